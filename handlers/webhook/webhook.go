package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/redrivehq/redrive/job"
)

// Type is the job type.
const Type job.Type = "webhook.deliver"

// Headers of a delivery besides Content-Type.
const (
	HeaderKey       = "Idempotency-Key"
	HeaderEvent     = "Redrive-Event"
	HeaderSignature = "Redrive-Signature"
)

// maxAnswerBytes of an answer are read, so that the connection can be used again; none of them is kept.
const maxAnswerBytes = 64 << 10

// Definition describes the handler for registration. Owner is whom to ask about the endpoints. Its timeout is above the
// longest that a payload may ask for, and its lease is short, since a delivery that is lost can be made again.
func Definition(owner string) job.Definition {
	return job.Definition{
		Type: Type, Effects: job.EffectsDownstream, Owner: owner,
		Policy: job.Policy{
			Lease: 10 * time.Second, Timeout: 6 * time.Minute, MaxAttempts: 12, Backoff: job.Backoff{Base: 5 * time.Second, Cap: time.Hour},
		},
	}
}

// Options configure a Sender.
type Options struct {
	// Secret signs deliveries. Empty: they are not signed.
	Secret []byte
	// Transport sends them; give one that refuses private addresses when strangers choose the URLs.
	// Default: http.DefaultTransport.
	Transport http.RoundTripper
	// Now tells the time. Default: time.Now.
	Now func() time.Time
}

// Sender delivers webhooks. It is safe for concurrent use.
type Sender struct {
	client *http.Client
	secret []byte
	now    func() time.Time
}

// New returns a sender.
func New(options Options) *Sender {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Sender{
		client: &http.Client{
			Transport:     options.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		secret: bytes.Clone(options.Secret),
		now:    options.Now,
	}
}

// Result is what a delivered job returns.
type Result struct {
	Status int `json:"status"`
}

// Deliver is the handler.
func (s *Sender) Deliver(ctx context.Context, d Delivery) (any, error) {
	attempt, ok := job.AttemptFrom(ctx)
	if !ok {
		return nil, job.HandlerDefect(errors.New("the context names no attempt, so there is no idempotency key"))
	}
	limited, cancel := context.WithTimeout(ctx, d.timeout())
	defer cancel()
	request, err := s.request(limited, attempt.ID.Key, d)
	if err != nil {
		return nil, err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, noAnswer(ctx, request.URL.Host, d.timeout(), err)
	}
	defer answer.Body.Close()
	// The status is the verdict; a body that breaks off changes nothing about it.
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswerBytes)
	if err := s.verdict(request.URL.Host, answer); err != nil {
		return nil, err
	}
	return Result{Status: answer.StatusCode}, nil
}

func (s *Sender) request(ctx context.Context, key job.Key, d Delivery) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Body))
	if err != nil {
		return nil, job.InvalidPayload(errors.New("url cannot be requested")) // err quotes the URL
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "redrive-webhook/1")
	request.Header.Set(HeaderKey, string(key))
	request.Header.Set(HeaderEvent, d.Event)
	if len(s.secret) > 0 {
		request.Header.Set(HeaderSignature, sign(s.secret, s.now(), string(key), d.Event, d.Body))
	}
	return request, nil
}

// verdict turns a status into an error with a class, or nothing.
func (s *Sender) verdict(host string, answer *http.Response) error {
	err := fmt.Errorf("POST to %s was answered %d", host, answer.StatusCode)
	switch status := answer.StatusCode; {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return job.Throttled(err, retryAfter(answer.Header.Get("Retry-After"), s.now()))
	case status >= 500:
		return job.DependencyDown(err)
	case status >= 300 && status < 400:
		return job.Rejected(fmt.Errorf("%w; redirects are not followed", err))
	default:
		return job.Rejected(err)
	}
}
