package script

import (
	"github.com/dop251/goja"
)

// completed is an option that names an agent of the script that has
// completed: by its id, its handle, its result or the promise of it.
func (o options) completed(key string) (string, error) {
	v := o.get(key)
	if v == nil {
		return "", nil
	}
	id := ""
	if obj, ok := v.(*goja.Object); ok {
		id = o.m.property(obj, "id")
	} else if goja.IsString(v) {
		id = v.String()
	}
	if id == "" {
		return "", o.refuse(key, v, "the id or the handle of an agent")
	}
	c := o.m.byID[id]
	switch {
	case c == nil:
		return "", invalid("%s: %s: there is no agent %q", o.what, key, id)
	case c.end == nil:
		return "", invalid("%s: %s: %s has not ended; wait for it first", o.what, key, id)
	case c.end.Status != "completed":
		return "", invalid("%s: %s: %s is %s; only a completed conversation can be continued", o.what, key, id, c.end.Status)
	}
	return id, nil
}
