package starter

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
)

// laneTTL is how long one look at a lane serves; a busy producer must not pay a call per job for it.
const laneTTL = 30 * time.Second

// laneCheck is what was last seen of a lane.
type laneCheck struct {
	at     time.Time
	polled bool
}

// Polled tells whether a worker has lately polled the lane of t. It asks Temporal.
func (c *Client) Polled(ctx context.Context, t job.Type) (bool, error) {
	queue, err := c.temporal.DescribeTaskQueue(ctx, t.Lane(), enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return false, fmt.Errorf("describe lane %s: %w", t.Lane(), err)
	}
	return len(queue.GetPollers()) > 0, nil
}

// laneWarning says so when nobody polls the lane of t: a job type that is misspelled would otherwise wait in silence
// until its deadline. The job is started all the same, since its workers may come later.
func (c *Client) laneWarning(ctx context.Context, t job.Type) string {
	c.mu.Lock()
	seen, known := c.lanes[t]
	c.mu.Unlock()
	if !known || time.Since(seen.at) > laneTTL || !seen.polled {
		polled, err := c.Polled(ctx, t)
		if err != nil {
			c.options.Logger.Warn("lane not checked", zap.String("job_type", string(t)), zap.Error(err))
			return ""
		}
		seen = laneCheck{at: time.Now(), polled: polled}
		c.mu.Lock()
		c.lanes[t] = seen
		c.mu.Unlock()
	}
	if seen.polled {
		return ""
	}
	return fmt.Sprintf("no worker polls %s; the job waits until one does or its deadline passes", t.Lane())
}
