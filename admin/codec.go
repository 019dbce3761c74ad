package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.uber.org/zap"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redrivehq/redrive/job"
)

// The codec endpoint speaks the protocol of Temporal's remote codecs: payloads in protobuf's JSON form, in and out.
const (
	decodePath = "/codec/decode"
	encodePath = "/codec/encode"
	signInPath = "/codec/session"
)

// What one request may hold: the payloads of a long event, as the Web UI and the CLI send them.
const (
	maxCodecBytes    = 8 << 20
	maxCodecPayloads = 256
)

// How a caller asks to see payloads as they are: by header, as the CLI's --codec-header does, or in the query.
const (
	viewHeader, viewQuery     = "X-Redrive-View", "view"
	reasonHeader, reasonQuery = "X-Redrive-Reason", "reason"
	actorHeader, actorQuery   = "X-Redrive-Actor", "actor"
)

// bindingPlain is how the audit log names payloads that were never encrypted.
const bindingPlain = "plain"

func (a *api) codecRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST "+decodePath, a.decode)
	mux.HandleFunc("POST "+encodePath, a.encode)
	if a.Token != "" {
		mux.HandleFunc("GET "+signInPath, a.signInForm)
		mux.HandleFunc("POST "+signInPath, a.signInForm)
	}
}

// encode answers what it was sent. The UI and the CLI send signals through it, which operators write in plain JSON; and an
// endpoint that encrypts what anybody sends makes payloads that look like a worker's own.
func (a *api) encode(w http.ResponseWriter, r *http.Request) {
	if payloads, ok := a.readPayloads(w, r); ok {
		writePayloads(w, payloads)
	}
}

// decode decrypts, and then redacts, unless the caller may see everything and says why.
func (a *api) decode(w http.ResponseWriter, r *http.Request) {
	payloads, ok := a.readPayloads(w, r)
	if !ok {
		return
	}
	shown := a.redactedView
	if view := given(r, viewHeader, viewQuery); view == "full" {
		if p := a.auditView(r, payloads); p != nil {
			answer(w, p)
			return
		}
		shown = a.fullView
	} else if view != "" && view != "redacted" {
		refuse(w, http.StatusBadRequest, "invalid_view", "the view is neither full nor redacted, which are allowed")
		return
	}
	decoded := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if r.Context().Err() != nil {
			refuse(w, http.StatusGatewayTimeout, "timeout", "the payloads could not be decoded in time; ask for fewer")
			return
		}
		decoded[i] = shown(p)
	}
	writePayloads(w, decoded)
}

func given(r *http.Request, header, query string) string {
	if value := r.Header.Get(header); value != "" {
		return value
	}
	return r.URL.Query().Get(query)
}

// auditView writes down who sees what before it is shown. Nil: it is written.
func (a *api) auditView(r *http.Request, payloads []*commonpb.Payload) *Problem {
	who := credentialOf(r.Context())
	if who != credentialPrivileged || a.Audit == nil {
		a.Logger.Warn("full view of payloads refused", zap.String("credential", string(who)), zap.String("from", from(r)))
		return newProblem(http.StatusForbidden, "not_privileged", "payloads are shown as they are to the privileged token only")
	}
	record := job.AuditRecord{
		At: time.Now().UTC(), Action: job.AuditViewPayloads, Credential: string(who), Actor: given(r, actorHeader, actorQuery),
		Reason: given(r, reasonHeader, reasonQuery), Namespace: r.Header.Get("X-Namespace"), Targets: bindings(payloads),
		Items: len(payloads), From: from(r),
	}
	if err := record.Validate(); err != nil {
		return newProblem(http.StatusBadRequest, "invalid_request", err.Error())
	}
	if err := a.Audit.SaveAudit(r.Context(), record); err != nil {
		a.Logger.Error("full view of payloads refused: the audit log cannot be written", zap.Error(err))
		return newProblem(http.StatusServiceUnavailable, "audit_unavailable", "the audit log cannot be written, so nothing is shown; the request may be repeated")
	}
	return nil
}

// from is the caller's address; behind a proxy, the proxy's.
func from(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// bindings names what the payloads claim to belong to, each once. One that lies does not decrypt.
func bindings(payloads []*commonpb.Payload) []string {
	seen := map[string]bool{}
	for _, p := range payloads {
		seen[binding(p)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func binding(p *commonpb.Payload) string {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != job.EncodingEncrypted {
		return bindingPlain
	}
	return string(p.GetMetadata()[job.MetadataBinding])
}

// readPayloads answers itself, and returns false, when the body is not what it must be.
func (a *api) readPayloads(w http.ResponseWriter, r *http.Request) ([]*commonpb.Payload, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCodecBytes))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", maxCodecBytes))
		return nil, false
	}
	var message commonpb.Payloads
	if err == nil { // its own text quotes the body
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, &message)
	}
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, "invalid_input", `the body is not {"payloads":[…]} in protobuf's JSON form`)
		return nil, false
	case len(message.GetPayloads()) > maxCodecPayloads:
		refuse(w, http.StatusRequestEntityTooLarge, "too_large",
			fmt.Sprintf("the body holds %d payloads, at most %d are allowed", len(message.GetPayloads()), maxCodecPayloads))
		return nil, false
	}
	return message.GetPayloads(), true
}

func writePayloads(w http.ResponseWriter, payloads []*commonpb.Payload) {
	body, err := protojson.Marshal(&commonpb.Payloads{Payloads: payloads})
	if err != nil {
		refuse(w, http.StatusInternalServerError, "internal", "the payloads could not be encoded")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client went away
}

// Audit keeps the audit log. It is safe for concurrent use.
type Audit interface {
	// SaveAudit makes one record durable; after an error it may not be.
	SaveAudit(ctx context.Context, r job.AuditRecord) error
}
