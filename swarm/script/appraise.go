package script

import "github.com/dop251/goja"

// evidence is sa.evidence(id, {since}).
func (m *machine) evidence(call goja.FunctionCall, d deferred) {
	c := m.find("evidence", call.Argument(0))
	if c.end == nil {
		m.throw(invalid("evidence: %s has not ended", c.id))
	}
	o, err := m.options("evidence", call.Argument(1), "since")
	if err != nil {
		m.throw(err)
	}
	r := &Evidence{ID: c.id}
	if r.Since, err = o.tree("since"); err != nil {
		m.throw(err)
	}
	m.answeredNow(r, d)
}

// appraise is sa.appraise(id or ids, {pass, problems, by}).
func (m *machine) appraise(call goja.FunctionCall) goja.Value {
	m.refuseLosers("a verdict")
	list, ok := elements(call.Argument(0))
	if !ok {
		list = []goja.Value{call.Argument(0)}
	}
	r := &Appraise{}
	for _, v := range list {
		c := m.find("appraise", v)
		if c.end == nil {
			m.throw(invalid("appraise: %s has not ended", c.id))
		}
		r.IDs = append(r.IDs, c.id)
	}
	o, err := m.options("appraise", call.Argument(1), "pass", "problems", "by")
	if err != nil {
		m.throw(err)
	}
	pass, err := o.flag("pass")
	if err != nil {
		m.throw(err)
	}
	if pass == nil {
		m.throw(invalid("appraise: pass is missing: true or false"))
	}
	r.Pass = *pass
	if r.Problems, err = o.texts("problems"); err != nil {
		m.throw(err)
	}
	if v := o.get("by"); v != nil {
		r.By = m.find("appraise: by", v).id
	}
	m.send(r, nil)
	return goja.Undefined()
}
