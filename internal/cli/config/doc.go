// Package config has mcphub config: the verdict on config files, the places where applications keep them, and changes.
//
// What must not live here: the dialects of config files (hub/config), and how they are changed (hub/sources).
package config
