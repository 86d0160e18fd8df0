package plugin

// ServeAny is serve, which ServeHub uses, for tests.
var ServeAny = serve
