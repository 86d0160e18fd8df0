package toolset

// Provider is who runs a model: each takes another part of JSON Schema.
type Provider string

// The providers whose rules are known.
const (
	Anthropic Provider = "anthropic"
	OpenAI    Provider = "openai"
	Gemini    Provider = "gemini"
)

// Known tells whether the rules of p are known.
func (p Provider) Known() bool { return p == Anthropic || p == OpenAI || p == Gemini }

// kind is what the value of a keyword is.
type kind byte

const (
	textKind   kind = iota + 1
	numberKind      // finite
	countKind       // a number from 0
	boolKind
	anyKind    // any value
	listKind   // an array of any values
	namesKind  // an array of strings
	typeKind   // "type"
	schemaKind // one schema
	manyKind   // an array of schemas
	tableKind  // an object of schemas
	itemsKind  // a schema, or in older dialects an array of them
	refKind    // what refers or is referred to: it is written out where it is used
)

// basic are the keywords that all three take.
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

// keywords says what each provider takes. What is read here and no provider takes in this form (references, allOf,
// arrays of items) is made into what it does take.
//
// OpenAI's documents are clear about the strict form alone. Keywords of which nobody says that the plain form takes
// them are left out: a refusal costs the whole request, a keyword a hint.
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
