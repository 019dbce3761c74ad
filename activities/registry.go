package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

// ErrDuplicateHandler is wrapped when a job type is registered twice.
var ErrDuplicateHandler = errors.New("handler is already registered")

// Registry holds the handlers of a process. Its zero value is empty and ready. Register everything before a worker is
// made from it; it is not safe for concurrent registration.
type Registry struct {
	entries map[job.Type]*entry
}

// entry is a handler with its payload type erased.
type entry struct {
	definition job.Definition
	invoke     func(ctx context.Context, payload []byte) (any, error)
}

// Register adds the handler of one job type. The error wraps job.ErrInvalidDefinition, job.ErrInvalidKey,
// job.ErrInvalidPolicy or ErrDuplicateHandler and says what is missing.
func Register[P any](r *Registry, definition job.Definition, handle job.Handler[P]) error {
	definition = definition.WithDefaults()
	if err := definition.Validate(); err != nil {
		return err
	}
	if handle == nil {
		return fmt.Errorf("%w: job type %s has no handler function", job.ErrInvalidDefinition, definition.Type)
	}
	if _, taken := r.entries[definition.Type]; taken {
		return fmt.Errorf("job type %s: %w", definition.Type, ErrDuplicateHandler)
	}
	if _, err := redaction.Compile(definition.Policy.Redaction); err != nil {
		return fmt.Errorf("job type %s: %w", definition.Type, err)
	}
	if r.entries == nil {
		r.entries = map[job.Type]*entry{}
	}
	r.entries[definition.Type] = &entry{definition: definition, invoke: erase(handle)}
	return nil
}

// erase is the only place that knows a handler's payload type.
func erase[P any](handle job.Handler[P]) func(context.Context, []byte) (any, error) {
	return func(ctx context.Context, raw []byte) (any, error) {
		var payload P
		if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&payload); err != nil {
			return nil, job.InvalidPayload(fmt.Errorf("decode the payload: %w", err))
		}
		if checked, ok := any(&payload).(interface{ Validate() error }); ok {
			if err := checked.Validate(); err != nil {
				return nil, job.InvalidPayload(err)
			}
		}
		return handle(ctx, payload)
	}
}

// Types returns the registered job types in order.
func (r *Registry) Types() []job.Type {
	types := make([]job.Type, 0, len(r.entries))
	for t := range r.entries {
		types = append(types, t)
	}
	sort.Slice(types, func(i, j int) bool { return types[i] < types[j] })
	return types
}

// Definition returns what t was registered with.
func (r *Registry) Definition(t job.Type) (job.Definition, bool) {
	e, ok := r.entries[t]
	if !ok {
		return job.Definition{}, false
	}
	return e.definition, true
}
