package toolset

// Provider is a provider of models. Each accepts a different part of JSON Schema.
type Provider string

// The providers whose rules are known.
const (
	Anthropic Provider = "anthropic"
	OpenAI    Provider = "openai"
	Gemini    Provider = "gemini"
)

// Known reports whether the rules of p are known.
func (p Provider) Known() bool { return p == Anthropic || p == OpenAI || p == Gemini }

// kind is the type of a keyword's value.
type kind byte

const (
	textKind   kind = iota + 1
	numberKind      // finite
	countKind       // a number >= 0
	boolKind
	anyKind    // any value
	listKind   // an array of any values
	namesKind  // an array of strings
	typeKind   // "type"
	schemaKind // one schema
	manyKind   // an array of schemas
	tableKind  // an object of schemas
	itemsKind  // a schema, or in older dialects an array of them
	refKind    // a reference or its target: targets are copied to where they are used
)

// basic are the keywords that all three accept.
var basic = map[string]kind{
	"type": typeKind, "title": textKind, "description": textKind, "enum": listKind, "const": anyKind,
	"properties": tableKind, "required": namesKind, "items": itemsKind, "prefixItems": manyKind,
	"anyOf": manyKind, "oneOf": manyKind, "allOf": manyKind, "format": textKind, "pattern": textKind,
	"minimum": numberKind, "maximum": numberKind, "minLength": countKind, "maxLength": countKind,
	"minItems": countKind, "maxItems": countKind,
	"$ref": refKind, "$defs": refKind, "definitions": refKind, "$dynamicRef": refKind, "$recursiveRef": refKind,
}

var jsonSchema = with(basic, map[string]kind{
	"default": anyKind, "examples": listKind, "additionalProperties": schemaKind, "exclusiveMinimum": numberKind,
	"exclusiveMaximum": numberKind, "multipleOf": numberKind, "uniqueItems": boolKind, "minProperties": countKind,
	"maxProperties": countKind, "deprecated": boolKind, "readOnly": boolKind, "writeOnly": boolKind,
})

// keywords are the keywords that each provider accepts. Keywords that are parsed but that no provider accepts in this
// form (references, allOf, arrays of items) are converted.
//
// OpenAI's documents are clear only about the strict form. Keywords that are not documented for the plain form are left
// out: a refusal costs the whole request, a missing keyword a hint.
var keywords = map[Provider]map[string]kind{
	Anthropic: with(jsonSchema, map[string]kind{
		"not": schemaKind, "if": schemaKind, "then": schemaKind, "else": schemaKind, "contains": schemaKind,
		"minContains": countKind, "maxContains": countKind, "propertyNames": schemaKind, "patternProperties": tableKind,
		"dependentSchemas": tableKind,
	}),
	OpenAI: jsonSchema,
	Gemini: with(basic, map[string]kind{"nullable": boolKind}),
}

func with(a, b map[string]kind) map[string]kind {
	all := map[string]kind{}
	for _, m := range []map[string]kind{a, b} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

var typeNames = map[string]bool{
	"object": true, "array": true, "string": true, "number": true, "integer": true, "boolean": true, "null": true,
}
