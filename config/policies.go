package config

import (
	"reflect"

	"github.com/redrivehq/redrive/job"
)

// withDefaults completes the default policy, and each type's from it.
func (p Policies) withDefaults() Policies {
	complete := Policies{Default: p.Default.WithDefaults(), Types: make(map[job.Type]job.Policy, len(p.Types))}
	for t, policy := range p.Types {
		inherit(reflect.ValueOf(&policy).Elem(), reflect.ValueOf(complete.Default))
		complete.Types[t] = policy
	}
	return complete
}

// inherit fills what was left out of own. The file cannot say zero (see document.leaf), so a zero is left out.
func inherit(own, from reflect.Value) {
	if own.Kind() == reflect.Struct {
		for i := range own.NumField() {
			inherit(own.Field(i), from.Field(i))
		}
		return
	}
	if own.IsZero() {
		own.Set(from)
	}
}
