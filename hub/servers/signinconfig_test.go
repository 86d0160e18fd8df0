package servers

import (
	"reflect"
	"testing"

	"github.com/mcphub-go/mcphub/hub/config"
)

// What the config says of a sign-in reaches it: a text in any field of config.OAuth is found again in signin.Config.
func TestSignInConfigPassesEverything(t *testing.T) {
	var check func(prefix string, of reflect.Value, whole *config.OAuth)
	check = func(prefix string, of reflect.Value, whole *config.OAuth) {
		for i := range of.NumField() {
			name, field := prefix+of.Type().Field(i).Name, of.Field(i)
			switch field.Kind() {
			case reflect.Struct:
				check(name+".", field, whole)
				continue
			case reflect.String:
				field.SetString("marker")
			case reflect.Int:
				field.SetInt(4711)
			case reflect.Slice:
				field.Set(reflect.ValueOf([]string{"marker"}))
			default:
				t.Fatalf("%s is a %s", name, field.Kind())
			}
			passed := !reflect.DeepEqual(signInConfig(*whole), signInConfig(config.OAuth{}))
			if !passed {
				t.Errorf("%s is not passed on", name)
			}
			field.SetZero()
		}
	}
	var o config.OAuth
	check("", reflect.ValueOf(&o).Elem(), &o)
}
