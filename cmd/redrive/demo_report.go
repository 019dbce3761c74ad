package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// demoReport is demo-report.json. Every figure is counted from Temporal's histories, the dead-letter store or the
// places where effects land; none is assumed.
type demoReport struct {
	OK               bool    `json:"ok"`
	Jobs             int     `json:"jobs"`
	Completed        int     `json:"completed"`         // jobs that completed without a dead letter
	DeadLettered     int     `json:"dead_lettered"`     // jobs that ever had a dead letter
	Resolved         int     `json:"resolved"`          // dead letters whose replay succeeded
	DuplicateEffects int     `json:"duplicate_effects"` // effects beyond the first of a key
	Lost             int     `json:"lost"`              // jobs with neither a terminal state nor a record
	LeaseExpiries    int     `json:"lease_expiries"`
	Seconds          float64 `json:"seconds"`
}

// judge sets OK: the story has to have happened, and nothing may be lost or done twice.
func (r *demoReport) judge(started time.Time) {
	r.Seconds = float64(time.Since(started).Milliseconds()) / 1000
	r.OK = r.Jobs > 0 && r.Completed+r.Resolved == r.Jobs && r.DeadLettered == 1 && r.Resolved == 1 &&
		r.DuplicateEffects == 0 && r.Lost == 0 && r.LeaseExpiries >= 1
}

func (r *demoReport) write(path string) error {
	encoded, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("demo report: %w", err)
	}
	if err := os.WriteFile(path, append(encoded, '\n'), 0o644); err != nil { //nolint:gosec // it is meant to be read
		return fmt.Errorf("demo report: %w", err)
	}
	return nil
}
