package job

import (
	"fmt"
	"strings"
	"time"
)

// AuditAction is something that must not happen without a trace.
type AuditAction string

// The audited actions.
const (
	AuditViewPayloads AuditAction = "view_payloads" // somebody saw payloads as they are
	AuditErase        AuditAction = "erase"         // a job's data was erased
)

// AllAuditActions returns every action.
func AllAuditActions() []AuditAction { return []AuditAction{AuditViewPayloads, AuditErase} }

// AuditRecord is one line of the audit log. Nothing in it quotes a payload.
type AuditRecord struct {
	At     time.Time   `json:"at"`
	Action AuditAction `json:"action"`
	// Credential is what let them in; Actor is who they say they are, and may be empty.
	Credential string `json:"credential"`
	Actor      string `json:"actor,omitempty"`
	Reason     string `json:"reason"`
	Namespace  string `json:"namespace,omitempty"`
	// Targets are what it was done to: bindings such as job:<type>:<key>, or plain for payloads that were never encrypted.
	Targets []string `json:"targets,omitempty"`
	Items   int      `json:"items"`          // payloads that were shown, or parts that were erased
	From    string   `json:"from,omitempty"` // the caller's address
}

// Validate refuses a record that does not say why, or whose texts are too long.
func (r AuditRecord) Validate() error {
	if strings.TrimSpace(r.Reason) == "" {
		return fmt.Errorf("%s needs %q", r.Action, "reason")
	}
	if len(r.Reason) > MaxReasonBytes {
		return fmt.Errorf("%q is %d bytes, at most %d are allowed", "reason", len(r.Reason), MaxReasonBytes)
	}
	if len(r.Actor) > MaxActorBytes {
		return fmt.Errorf("%q is %d bytes, at most %d are allowed", "actor", len(r.Actor), MaxActorBytes)
	}
	return nil
}
