package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Limits of a delivery.
const (
	DefaultTimeout    = 30 * time.Second
	MaxTimeoutSeconds = 300
	MaxURLBytes       = 2048
	MaxEventBytes     = 128
)

// Delivery is the payload of a job.
type Delivery struct {
	URL   string `json:"url"`   // http or https, without user and password
	Event string `json:"event"` // letters, digits and . _ : -
	// Body is any JSON; it is sent as it is.
	Body json.RawMessage `json:"body"`
	// TimeoutSeconds bounds one POST, from 1 to MaxTimeoutSeconds. Left out, it is DefaultTimeout.
	TimeoutSeconds *int `json:"timeout_seconds,omitempty"`
}

// Validate names the field that does not fit, and quotes nothing.
func (d *Delivery) Validate() error {
	if err := validateURL(d.URL); err != nil {
		return err
	}
	switch {
	case d.Event == "":
		return errors.New(`"event" is missing`)
	case len(d.Event) > MaxEventBytes || !isToken(d.Event):
		return fmt.Errorf(`"event" is not a name of at most %d letters, digits and . _ : -`, MaxEventBytes)
	case len(d.Body) == 0:
		return errors.New(`"body" is missing`)
	case d.TimeoutSeconds != nil && (*d.TimeoutSeconds < 1 || *d.TimeoutSeconds > MaxTimeoutSeconds):
		return fmt.Errorf(`"timeout_seconds" is %d, allowed are 1 to %d`, *d.TimeoutSeconds, MaxTimeoutSeconds)
	}
	return nil
}

func validateURL(text string) error {
	if text == "" {
		return errors.New(`"url" is missing`)
	}
	if len(text) > MaxURLBytes {
		return fmt.Errorf(`"url" is %d bytes, at most %d are allowed`, len(text), MaxURLBytes)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New(`"url" is not a URL`) // err quotes it
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New(`"url" has a scheme other than http and https`)
	case u.Hostname() == "":
		return errors.New(`"url" names no host`)
	case u.User != nil:
		return errors.New(`"url" holds a user or password, which is not allowed`)
	}
	return nil
}

// isToken keeps an event fit for a header, and free of the newline that separates the signed parts.
func isToken(s string) bool {
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && r != '.' && r != '_' && r != ':' && r != '-' {
			return false
		}
	}
	return true
}

func (d *Delivery) timeout() time.Duration {
	if d.TimeoutSeconds == nil {
		return DefaultTimeout
	}
	return time.Duration(*d.TimeoutSeconds) * time.Second
}
