package config

// inputs reads the top-level "inputs" of a file.
func (l *loader) inputs(doc *document, v value, origin Origin) []Input {
	l.report(doc.problem(v.at(), "", "inputs", "is not supported yet and was ignored", false))
	return nil
}
