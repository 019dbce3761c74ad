package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

// named is a dead letter as the command line names it.
type named struct {
	id  job.DeadLetterID
	key job.KeyID // empty when it was named by its id
}

var deadLetterIDs = regexp.MustCompile(`^dl_[a-z2-7]{26}$`)

// deadLetter reads an id as it is given on the command line: dl_…, or type:key.
func (e *environment) deadLetter(given string) (named, error) {
	if strings.HasPrefix(given, "dl_") && !strings.Contains(given, ":") {
		if !deadLetterIDs.MatchString(given) {
			return named{}, usagef("%q is not a dead letter's id, which is dl_ and 26 characters of a-z and 2-7", given)
		}
		return named{id: job.DeadLetterID(given)}, nil
	}
	key, err := parseKeyID(given)
	if err != nil {
		return named{}, usagef("%q is neither a dead letter's id (dl_…) nor type:key: %w", given, err)
	}
	namespace, err := e.namespace()
	return named{id: job.NewDeadLetterID(namespace, key), key: key}, err
}

// lookLimit bounds the look at Temporal that only makes an error say more.
const lookLimit = 3 * time.Second

// explain says of a dead letter that is not there what its job does, where Temporal can be asked. Other errors pass.
func (e *environment) explain(ctx context.Context, n named, err error) error {
	if !errors.Is(err, job.ErrNotFound) || n.key == (job.KeyID{}) {
		return err
	}
	state, lookErr := e.look(ctx, n.key)
	switch {
	case errors.Is(lookErr, job.ErrNotFound):
		return fmt.Errorf("%s has no dead letter (there is no such job either)", n.key)
	case errors.Is(lookErr, starter.ErrUnrecorded):
		return fmt.Errorf("%s has no dead letter: %w", n.key, lookErr)
	case lookErr != nil: // not reachable: what is known is true without it
		return fmt.Errorf("%s has no dead letter", n.key)
	default:
		return fmt.Errorf("%s has no dead letter (the job is %s)", n.key, state)
	}
}

func (e *environment) look(ctx context.Context, id job.KeyID) (job.State, error) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	settings, err := e.settings()
	if err != nil {
		return "", err
	}
	c, _, err := e.connect(ctx, settings, zap.NewNop())
	if err != nil {
		return "", err
	}
	defer c.Close()
	jobs, err := newStarter(c, nil, settings.JobPolicies(), zap.NewNop())
	if err != nil {
		return "", err
	}
	return jobs.State(ctx, id)
}
