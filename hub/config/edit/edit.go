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

// Add adds an entry to a file, whose text is that of the source. The error is a *Refusal.
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
	if r == nil {
		r = affordable(nil, f.Inputs, set)
	}
	if r != nil {
		return Edited{}, r
	}
	e.path, e.dialect = append(config.Steps(to.Pointer), name), to.Dialect
	out, err := e.save(o, f.Inputs, set)
	out.LeftOut = left
	return out, err
}

// Change changes the entry of a name. The error is a *Refusal.
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
	if r := affordable(patch, u.Inputs, u.Settings); r != nil {
		return Edited{}, r
	}
	v, _ := e.before.get(e.path...)
	entry, ok := v.(object)
	if !ok {
		return Edited{}, refuse(Unsupported, e.layout.Named(name)[0].Origin.Line, "", "is no object; edit the file by hand")
	}
	if twice := doubled(entry); twice != "" {
		return Edited{}, refuse(Unsupported, e.layout.Named(name)[0].Origin.Line, "",
			"has the key %q, which comes twice; remove one of them", short(twice))
	}
	if u.Entry != nil {
		if entry, r = u.Entry.replace(entry, e.dialect); r != nil {
			return Edited{}, r
		}
	}
	return e.save(merged(entry, patch), u.Inputs, u.Settings)
}

// Remove takes the entry of a name out, a broken one too. The error is a *Refusal.
func Remove(src config.Source, name string) (Edited, error) {
	e, r := openEntry(src, name)
	if r != nil {
		return Edited{}, r
	}
	return e.write(e.before.without(e.path...), Settings{})
}

// Unmake takes out of a file what an Add put into it that made the file: the entry, and the inputs that came with it.
func Unmake(src config.Source, name string) (Edited, error) {
	e, r := openEntry(src, name)
	if r != nil {
		return Edited{}, r
	}
	after := e.before.without(e.path...)
	if e.dialect == config.DialectVSCode {
		after = after.without(e.inputsAt()...)
	}
	return e.write(after, Settings{})
}

// editing is one change of one file.
type editing struct {
	src     config.Source
	layout  config.Layout // of before
	before  object        // the whole file
	name    string
	path    []string // of the entry
	dialect string
}

var noPlace = refuse(Unsupported, 0, "",
	"the file holds settings of another application and has no place for servers yet; add one by hand, or name another file")

// open reads the file.
func open(src config.Source, name string) (*editing, *Refusal) {
	if why := config.CheckName(name); why != "" {
		return nil, refuse(Wrong, 0, "", "%s", why)
	}
	layout := config.LayoutOf(src)
	if !layout.TOML && len(bytes.TrimSpace(bytes.TrimPrefix(src.JSON, byteOrderMark))) == 0 {
		src.JSON = []byte("{}" + lineEnd(src.JSON)) // as a file that is not there yet
		layout = config.LayoutOf(src)
	}
	if p := layout.Unreadable; p != nil {
		return nil, refuseProblem(Broken, *p, p.Line)
	}
	before, _ := plain(layout.Root.Value).(object)
	return &editing{src: src, layout: layout, before: before, name: name}, nil
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

// maxChanges bounds the changes that are made at once: the time of each grows with the number of those before it.
const maxChanges = 1000

func affordable(patch object, inputs []config.Input, set Settings) *Refusal {
	if n := members(patch) + len(inputs) + len(set.Approvals) + len(set.Timeouts); n > maxChanges {
		return refuse(TooLarge, 0, "", "%d changes at once are too many; make them one after the other", n)
	}
	return nil
}

// save writes the entry as it is to be, with settings and inputs.
func (e *editing) save(entry object, inputs []config.Input, set Settings) (Edited, error) {
	entry, r := set.apply(entry, e.dialect)
	if r != nil {
		return Edited{}, r
	}
	if e.layout.TOML {
		entry = withoutNulls(entry)
	}
	after := e.before.with(entry, e.path...)
	if len(inputs) > 0 {
		list, r := e.withInputs(inputs)
		if r != nil {
			return Edited{}, r
		}
		after = after.with(list, e.inputsAt()...)
	}
	return e.write(after, set)
}

// tree is the text of a file that is being changed. A path names a value by the keys that lead to it from the root. All
// objects on the way are in the text.
type tree interface {
	// set puts a value in the place of the one at a path, or adds it behind its siblings.
	set(path []string, v any) *Refusal
	// remove takes a value out that is there.
	remove(path []string) *Refusal
	// text is the whole with all changes.
	text() []byte
}

// write makes the file what it is to be. It changes the text where the values differ, so that comments between those
// that stay do so, too.
func (e *editing) write(after object, set Settings) (Edited, error) {
	after = replaced(e.before, after).(object)
	var t tree
	var r *Refusal
	if e.layout.TOML {
		t, r = openTOML(e.layout, e.path, after)
	} else {
		t, r = openJSON(e.layout, e.path)
	}
	if r == nil {
		r = rewrite(t, nil, e.before, after)
	}
	if r != nil {
		return Edited{}, r
	}
	text := []byte{} // nil would be no text at all
	if bytes.HasPrefix(e.src.JSON, byteOrderMark) {
		text = append(text, byteOrderMark...)
	}
	return e.verify(append(text, t.text()...), after, set)
}

func rewrite(t tree, path []string, before, after any) *Refusal {
	was, wasObject := before.(object)
	now, isObject := after.(object)
	switch {
	case reflect.DeepEqual(before, after):
		return nil
	case !wasObject || !isObject:
		return t.set(path, after)
	}
	for _, m := range was {
		if _, stays := now.get(m.name); !stays {
			if r := t.remove(below(path, m.name)); r != nil {
				return r
			}
		}
	}
	for _, m := range now {
		var r *Refusal
		if old, there := was.get(m.name); there {
			r = rewrite(t, below(path, m.name), old, m.value)
		} else {
			r = t.set(below(path, m.name), m.value)
		}
		if r != nil {
			return r
		}
	}
	return nil
}

func below(path []string, name string) []string { return append(path[:len(path):len(path)], name) }

// verify reads what came out, and refuses what is not what was wanted: an entry that cannot be used, and the slightest
// other change of the file.
func (e *editing) verify(text []byte, after object, set Settings) (Edited, error) {
	src := e.src
	src.JSON = text
	layout := config.LayoutOf(src)
	if p := layout.Unreadable; p != nil {
		kind := Unsupported
		if len(text) > len(e.src.JSON) && p.Line == 0 {
			kind = TooLarge
		}
		return Edited{}, refuse(kind, 0, "", "what would be written cannot be read (%s); edit the file by hand", p.Message)
	}
	var is, wanted any = plain(layout.Root.Value), after
	if layout.TOML { // which has no order, and no table of servers without any
		holder := e.path[:len(e.path)-1]
		is, wanted = sorted(is.(object).withoutEmpty(holder)), sorted(after.withoutEmpty(holder))
	}
	if !reflect.DeepEqual(is, wanted) {
		return Edited{}, refuse(Unsupported, 0, "", "the change would touch more of the file than this entry; edit the file by hand")
	}
	out := Edited{Text: text}
	if _, there := after.get(e.path...); !there {
		return out, nil
	}
	for _, p := range layout.Problems {
		if p.Server != e.name {
			continue
		}
		if p.Fatal {
			return Edited{}, refuseProblem(Wrong, p, 0)
		}
		out.Problems = append(out.Problems, p)
	}
	s := layout.Server(e.name)
	if s == nil {
		return Edited{}, refuse(Wrong, 0, "", "what would be written is no entry of a server")
	}
	if r := set.check(s); r != nil {
		return Edited{}, r
	}
	out.Line, out.Server = s.Origin.Line, s
	return out, nil
}
