package docs

// Documented returns every command that has a page.
var Documented = documented
