package plugin

// ServeAny is what ServeHub serves its hub by.
var ServeAny = serve
