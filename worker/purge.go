package worker

import (
	"context"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"
)

// Purger is a ledger that forgets what nobody can ask for any more; *store.DB is one. Calls may overlap, also from several
// processes.
type Purger interface {
	// PurgeExpired forgets effects whose key TTL ended before a time, at most batch per transaction, until none is left or
	// ctx ends.
	PurgeExpired(ctx context.Context, before time.Time, batch int) (purged int, err error)
}

// purgeBatch keeps a transaction short: SQLite has one writer, and attempts wait for it.
const purgeBatch = 500

// purge forgets expired effects again and again. Every worker of the store's queue does so: that one of them is gone, or
// that two do it at once, does no harm.
type purge struct {
	ledger Purger
	every  time.Duration
	now    func() time.Time
	logger *zap.Logger
}

// start begins in the background; stop ends it, also in the middle of a batch, and returns when it has ended.
func (p purge) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// run spreads its turns, so that workers that were started together do not come together.
func (p purge) run(ctx context.Context) {
	for wait := rand.N(p.every); ; wait = p.every/2 + rand.N(p.every) {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			p.once(ctx)
		}
	}
}

func (p purge) once(ctx context.Context) {
	n, err := p.ledger.PurgeExpired(ctx, p.now(), purgeBatch)
	if n > 0 {
		p.logger.Info("expired effects purged", zap.Int("count", n))
	}
	if err != nil && ctx.Err() == nil {
		p.logger.Warn("expired effects not purged", zap.Error(err))
	}
}
