package edit

import (
	"bytes"
	"reflect"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Edited is what a change made of a text.
type Edited struct {
	Text   []byte
	Line   int            // of the entry; 0: it is gone
	Server *config.Server // as the file has it now; nil: it is gone
	// Problems are what there is to say of the entry, none of it fatal.
	Problems []config.Problem
	// AsBefore: the text is one that no program made. For who puts back what was.
	AsBefore bool
	// LeftOut are keys of what was to be added that the file's dialect has no words for.
	LeftOut []string
}

// Update is what changes of an entry. Entry and Patch are carried out in this order, then Settings.
type Update struct {
	Entry *Entry // takes the place of what says how the server is reached; nil: that stays
	// Patch is a JSON merge patch (RFC 7396) of the entry, in the keys of its dialect: null takes a key out. "": none.
	Patch    string
	Settings Settings
	Inputs   []config.Input // as in Form
}

// Add adds an entry to a file, whose text is that of the source. It is a *Refusal that keeps it from that.
func Add(src config.Source, name string, f Form, set Settings) (Edited, error) {
	e, r := open(src, name)
	if r != nil {
		return Edited{}, r
	}
	if spots := e.layout.Named(name); len(spots) > 0 {
		return Edited{}, refuse(Exists, spots[0].Origin.Line, "", "there is an entry of this name; change that one, or choose another name")
	}
	if len(e.layout.Holders) == 0 {
		return Edited{}, noPlace
	}
	to := e.layout.Holders[0]
	o, left, r := f.in(name, to.Dialect)
	if r != nil {
		return Edited{}, r
	}
	e.path, e.dialect = append(config.Steps(to.Pointer), name), to.Dialect
	if r := e.affordable(1+len(f.Inputs), len(f.JSON), set); r != nil {
		return Edited{}, r
	}
	if r := e.change(func(t tree) *Refusal {
		if r := t.set(e.path, o); r != nil {
			return r
		}
		if r := (&settler{t, e.path, e.dialect}).carryOut(set); r != nil {
			return r
		}
		return e.addInputs(t, f.Inputs)
	}); r != nil {
		return Edited{}, r
	}
	out, err := e.result(set)
	out.LeftOut = left
	return out, err
}

// Change changes the entry of a name. It is a *Refusal that keeps it from that.
func Change(src config.Source, name string, u Update) (Edited, error) {
	e, r := openEntry(src, name)
	if r != nil {
		return Edited{}, r
	}
	var patch object
	if u.Patch != "" {
		var err error
		if patch, err = parseValue(u.Patch); err != nil {
			return Edited{}, refuse(Wrong, 0, "", "the patch %s", err)
		}
	}
	steps := members(patch) + len(u.Inputs)
	if u.Entry != nil {
		steps += len(launchKeys)
	}
	if r := e.affordable(steps, len(u.Patch), u.Settings); r != nil {
		return Edited{}, r
	}
	if r := e.change(func(t tree) *Refusal {
		if u.Entry != nil {
			if r := e.relaunch(t, u.Entry); r != nil {
				return r
			}
		}
		if r := merge(t, e.path, patch); r != nil {
			return r
		}
		if r := (&settler{t, e.path, e.dialect}).carryOut(u.Settings); r != nil {
			return r
		}
		return e.addInputs(t, u.Inputs)
	}); r != nil {
		return Edited{}, r
	}
	return e.result(u.Settings)
}

// Remove takes the entry of a name out, a broken one too. It is a *Refusal that keeps it from that.
func Remove(src config.Source, name string) (Edited, error) {
	e, r := openEntry(src, name)
	if r != nil {
		return Edited{}, r
	}
	if r := e.change(func(t tree) *Refusal { return t.remove(e.path) }); r != nil {
		return Edited{}, r
	}
	e.gone = true
	return e.result(Settings{})
}

// Unmake takes out of a file what an Add put into it that made the file: the entry, and the inputs that came with it.
func Unmake(src config.Source, name string) (Edited, error) {
	e, r := openEntry(src, name)
	if r != nil {
		return Edited{}, r
	}
	e.unmade = e.dialect == config.DialectVSCode
	if r := e.change(func(t tree) *Refusal {
		if r := t.remove(e.path); r != nil || !e.unmade {
			return r
		}
		return t.remove(e.inputsAt())
	}); r != nil {
		return Edited{}, r
	}
	e.gone = true
	return e.result(Settings{})
}

// maxWork bounds a change: steps, each of which reads the text once, times bytes.
const maxWork = 256 << 20

// affordable refuses a change of so many steps, which write so many bytes, that it would take long in a file of this
// size.
func (e *editing) affordable(steps, bytes int, set Settings) *Refusal {
	steps += 4 * (1 + len(set.Approvals) + len(set.Timeouts))
	for tool := range set.Approvals {
		bytes += len(tool) + 16
	}
	if steps*(len(e.src.JSON)+bytes+1024) > maxWork {
		return refuse(TooLarge, 0, "", "%d changes at once are too many for a file of this size; make them one after the other",
			steps)
	}
	return nil
}

// members counts those of an object, and of the objects in it.
func members(o object) (n int) {
	for _, m := range o {
		inner, _ := m.value.(object)
		n += 1 + members(inner)
	}
	return n
}

// editing is one change of one file.
type editing struct {
	src     config.Source
	layout  config.Layout // of before
	name    string
	path    []string // of the entry
	dialect string
	gone    bool
	inputs  int  // that were added to those of the file
	unmade  bool // all inputs of the file are taken out
	out     []byte
}

var noPlace = refuse(Unsupported, 0, "",
	"the file holds settings of another application and has no place for servers yet; add one by hand, or name another file")

// open reads the file.
func open(src config.Source, name string) (*editing, *Refusal) {
	if why := config.CheckName(name); why != "" {
		return nil, refuse(Wrong, 0, "", "%s", why)
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(src.JSON, byteOrderMark))) == 0 { // as a file that is not there yet
		e := &editing{src: src, name: name}
		empty := src
		if empty.JSON = []byte("{}"); config.LayoutOf(src).TOML {
			empty.JSON = []byte{}
		}
		e.layout = config.LayoutOf(empty)
		return e, nil
	}
	e := &editing{src: src, name: name, layout: config.LayoutOf(src)}
	if p := e.layout.Unreadable; p != nil {
		return nil, refuseProblem(Broken, *p, p.Line)
	}
	return e, nil
}

// openEntry reads the file for a change of an entry that is in it.
func openEntry(src config.Source, name string) (*editing, *Refusal) {
	e, r := open(src, name)
	if r != nil {
		return nil, r
	}
	spots := e.layout.Named(name)
	switch len(spots) {
	case 0:
		return nil, refuse(Missing, 0, "", "the file has no entry of this name")
	case 1:
	default:
		return nil, refuse(Unsupported, spots[1].Origin.Line, "", "there are two entries of this name in the file; remove one of them by hand")
	}
	e.path, e.dialect = config.Steps(spots[0].Origin.Pointer), spots[0].Origin.Dialect
	return e, nil
}

func (e *editing) change(do func(tree) *Refusal) *Refusal {
	var t tree
	var r *Refusal
	if e.layout.TOML {
		t, r = openTOML(e.src.JSON, e.path)
	} else {
		t, r = openJSON(e.src.JSON)
	}
	if r == nil {
		r = do(t)
	}
	if r != nil {
		return r
	}
	e.out = append([]byte{}, t.text()...) // nil would be no text at all
	return nil
}

// relaunch puts an entry in the place of what says how the server is reached. What the other one has no word for stays.
func (e *editing) relaunch(t tree, entry *Entry) *Refusal {
	o, r := entry.write(e.dialect)
	if r != nil {
		return r
	}
	for _, key := range launchKeys {
		if _, stays := o.get(key); !stays {
			if r := t.remove(append(e.path[:len(e.path):len(e.path)], key)); r != nil {
				return r
			}
		}
	}
	for _, m := range o {
		if r := assign(t, append(e.path[:len(e.path):len(e.path)], m.name), m.value); r != nil {
			return r
		}
	}
	return nil
}

// assign makes a value what it is to be, and touches nothing in it that is so already: comments inside of it stay.
func assign(t tree, path []string, v any) *Refusal {
	old, ok, r := t.get(path)
	if r != nil {
		return r
	}
	was, wasObject := old.(object)
	now, isObject := v.(object)
	switch {
	case ok && reflect.DeepEqual(old, v):
		return nil
	case !wasObject || !isObject:
		return t.set(path, v)
	}
	for _, m := range was {
		if _, stays := now.get(m.name); !stays {
			if r := t.remove(append(path[:len(path):len(path)], m.name)); r != nil {
				return r
			}
		}
	}
	for _, m := range now {
		if r := assign(t, append(path[:len(path):len(path)], m.name), m.value); r != nil {
			return r
		}
	}
	return nil
}

// merge carries a merge patch out (RFC 7396, section 2), without touching what it does not name.
func merge(t tree, at []string, patch object) *Refusal {
	for _, m := range patch {
		path := append(at[:len(at):len(at)], m.name)
		var r *Refusal
		switch v := m.value.(type) {
		case nil:
			r = t.remove(path)
		case object:
			old, ok, refusal := t.get(path)
			if r = refusal; r != nil {
				break
			}
			if _, isObject := old.(object); ok && isObject {
				r = merge(t, path, v)
			} else {
				r = t.set(path, withoutNulls(v))
			}
		default:
			r = t.set(path, v)
		}
		if r != nil {
			return r
		}
	}
	return nil
}
