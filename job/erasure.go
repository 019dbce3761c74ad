package job

import (
	"errors"
	"time"
)

// ErrJobOpen is wrapped when a job's data is asked to be erased while a run of it is open.
var ErrJobOpen = errors.New("the job is open")

// Erasure is the tombstone of a job's erased data.
type Erasure struct {
	At         time.Time `json:"at"`
	Credential string    `json:"credential,omitempty"` // what let them in
	Actor      string    `json:"actor"`                // who they say they are
	Reason     string    `json:"reason"`
}

// Validate refuses an erasure that does not say why, or whose texts are too long.
func (e Erasure) Validate() error {
	return AuditRecord{Action: AuditErase, Actor: e.Actor, Reason: e.Reason}.Validate()
}

// Erased is what an erasure found and removed. Zero parts: there was nothing, or nothing any more.
type Erased struct {
	Payloads int `json:"payloads"` // of the vault, with their keys
	Records  int `json:"records"`  // redacted payloads in the dead letter
	Results  int `json:"results"`  // of effects, in the ledger
}

// Parts is how many things were removed.
func (e Erased) Parts() int { return e.Payloads + e.Records + e.Results }
