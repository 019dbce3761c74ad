package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

// check complains about everything that is out of range or contradicts something else.
func (d *document) check(c Config) {
	if reason := checkStoreURL(c.Store.URL); reason != "" {
		d.complain("store.url", "%s", reason)
	}
	if reason := checkListen(c.Admin); reason != "" {
		d.complain("admin.listen", "%s", reason)
	}
	for i, origin := range c.Admin.CodecOrigins {
		if !isOrigin(origin) {
			d.complain(d.variableOr("admin.codec_origins", fmt.Sprintf("admin.codec_origins[%d]", i)),
				"is not where a page comes from: scheme and host in lower case, and nothing behind them, such as https://temporal.example.com")
		}
	}
	if address := c.Worker.MetricsListen; address != "" {
		if _, reason := checkAddress(address); reason != "" {
			d.complain("worker.metrics_listen", "%s", reason)
		}
	}
	if c.Worker.Drain < 0 {
		d.complain("worker.drain", "is %s, it must not be negative", c.Worker.Drain)
	}
	if c.Worker.MaxConcurrent < 1 || c.Worker.MaxConcurrent > 10_000 {
		d.complain("worker.max_concurrent", "is %d, allowed are 1 to 10000", c.Worker.MaxConcurrent)
	}
	if n := len(c.Worker.HandlerVersion); n > job.MaxNameBytes {
		d.complain("worker.handler_version", "is %d bytes, at most %d are allowed", n, job.MaxNameBytes)
	}
	if !slices.Contains(Levels(), c.Log.Level) {
		d.complain("log.level", "is not a level, allowed are %s", strings.Join(Levels(), ", "))
	}
	if !slices.Contains(Formats(), c.Log.Format) {
		d.complain("log.format", "is not a format, allowed are %s", strings.Join(Formats(), ", "))
	}
	d.checkPolicies(c.Policies)
}

func (d *document) checkPolicies(p Policies) {
	before := len(d.found)
	d.checkPolicy("policies.default", p.Default)
	if len(d.found) > before {
		return // each type inherits the default and would repeat its complaint
	}
	types := make([]job.Type, 0, len(p.Types))
	for t := range p.Types {
		types = append(types, t)
	}
	slices.Sort(types)
	for _, t := range types {
		key := "policies.types." + string(t)
		if err := t.Validate(); err != nil {
			d.complain(key, "%s", err)
			continue
		}
		d.checkPolicy(key, p.Types[t])
	}
}

func (d *document) checkPolicy(key string, p job.Policy) {
	var refused *job.PolicyError
	if err := p.Validate(); errors.As(err, &refused) {
		d.complain(d.written(key, refused.Fields), "%s", refused.Reason)
	} else if err != nil {
		d.complain(key, "%s", err)
	}
	var bad *redaction.RuleError
	if _, err := redaction.Compile(p.Redaction); errors.As(err, &bad) {
		d.complain(d.rule(key+".redaction", bad), "%s", bad.Reason())
	} else if err != nil {
		d.complain(key+".redaction", "%s", err)
	}
}

// rule is the key of a redaction rule: its own entry's where the file has one.
func (d *document) rule(key string, bad *redaction.RuleError) string {
	list := join(key, bad.List)
	for _, entry := range []string{fmt.Sprintf("%s[%d]", list, bad.Index), join(list, bad.Rule)} {
		if d.lines[entry] > 0 {
			return entry
		}
	}
	return list
}

// written returns the first of fields that this policy's own block holds: of two numbers that contradict each other,
// the line to point at is the one the reader wrote, not the one that was left out.
func (d *document) written(key string, fields []string) string {
	for _, field := range fields {
		if d.lines[join(key, field)] > 0 {
			return join(key, field)
		}
	}
	return join(key, fields[0])
}

// checkStoreURL quotes nothing: url.Parse's errors hold the whole address, password included.
func checkStoreURL(text string) string {
	const allowed = "allowed are sqlite:<path> and postgres://user:password@host:port/database"
	if path, ok := strings.CutPrefix(text, "sqlite:"); ok {
		if strings.TrimSpace(path) == "" {
			return "names no file; " + allowed
		}
		return ""
	}
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return "is not a known kind of store; " + allowed
	}
	if _, err := url.Parse(text); err != nil {
		return "is not a valid URL (escape special characters in the password, such as %2F for /); " + allowed
	}
	return ""
}

// variableOr is key when a variable gave it, else the place in the file.
func (d *document) variableOr(key, inFile string) string {
	if d.variables[key] != "" {
		return key
	}
	return inFile
}

// isOrigin tells whether text is what a browser may send as Origin.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Scheme+"://"+u.Host == text &&
		text == strings.ToLower(text)
}

func checkListen(a Admin) string {
	host, reason := checkAddress(a.Listen)
	if reason == "" && !Loopback(host) && a.Token == "" && a.TokenFile == "" {
		return "is reachable from other machines and needs a token: set admin.token_file or REDRIVE_ADMIN_TOKEN"
	}
	return reason
}

func checkAddress(address string) (host, reason string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", "is not host:port, such as 127.0.0.1:8080"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", "has a port that is not a number from 0 to 65535"
	}
	return host, ""
}

// Loopback tells whether a listener on host is out of reach for other machines. An empty host is every interface.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
