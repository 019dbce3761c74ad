//go:build corpus

package redaction_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/redaction/measure"
)

func corpus(t *testing.T, parts ...string) string {
	t.Helper()
	root := os.Getenv("REDRIVE_CORPUS")
	require.NotEmpty(t, root, "run by `make test-corpus`, which sets REDRIVE_CORPUS")
	return filepath.Join(append([]string{root}, parts...)...)
}

// TestCorpusJSON: what must parse comes out as it went in, what must not is withheld, the rest is either.
func TestCorpusJSON(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(corpus(t, "json-test-suite", "test_parsing", "*.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 318)
	r := newRedactor(t, redaction.Policy{MaxDepth: 1000})
	for _, file := range files {
		in, err := os.ReadFile(file)
		require.NoError(t, err)
		name := filepath.Base(file)
		out := r.Payload(in)
		require.Truef(t, json.Valid(out.JSON), name)
		require.NotEqualf(t, redaction.ReasonPanic, out.Report.Reason, name)
		switch name[0] {
		case 'y':
			if strings.HasPrefix(name, "y_object_duplicated_key") {
				require.Equalf(t, redaction.ReasonDuplicateKey, out.Report.Reason, name)
				continue
			}
			require.Falsef(t, out.Report.Withheld, "%s: %s", name, out.Report.Reason)
			if len(out.Report.Counts) == 0 {
				require.Equalf(t, string(in), string(out.JSON), name)
			}
		case 'n':
			require.Truef(t, out.Report.Withheld, "%s became %s", name, out.JSON)
		}
	}
}

// decidedNames are kept although the list has them: every map and every row has a "key", and "raw" says how, not what.
var decidedNames = map[string]bool{"key": true, "raw": true}

func TestCorpusNames(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(corpus(t, "sensitive-fields.json"))
	require.NoError(t, err)
	var names []string
	require.NoError(t, json.Unmarshal(raw, &names))
	require.Greater(t, len(names), 2000)
	r := newRedactor(t, redaction.Policy{})
	for _, name := range names {
		bare := strings.ToLower(name)
		for _, affix := range []string{"field", "input"} {
			bare = strings.Trim(strings.TrimSuffix(strings.TrimPrefix(bare, affix), affix), "_ ")
		}
		_, found := r.KeyRule(name)
		require.Equalf(t, !decidedNames[bare], found, "KeyRule(%q)", name)
	}
}

var mailAddress = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)

// TestCorpusWebhooks plants a token into each of the real payloads, and compares what was not removed byte by byte.
func TestCorpusWebhooks(t *testing.T) {
	t.Parallel()
	file, err := os.Open(corpus(t, "github-webhooks.jsonl"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	r := newRedactor(t, redaction.Policy{})
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		in := bytes.Replace(lines.Bytes(), []byte(`{"event"`), []byte(`{"note":`+quote("see "+fakeGitHub)+`,"event"`), 1)
		require.NotEqual(t, lines.Bytes(), in)
		count++
		out := r.Payload(in)
		require.Falsef(t, out.Report.Withheld, "%d: %s", count, out.Report.Reason)
		require.True(t, json.Valid(out.JSON))
		for _, address := range mailAddress.FindAllString(string(out.JSON), -1) {
			require.Equal(t, "git@github.com", address, "the user of an SSH URL is nobody's address")
		}
		require.Empty(t, measure.Leak(string(out.JSON), fakeGitHub))
		untouched(t, in, out.JSON)
		require.Equal(t, string(out.JSON), string(r.Payload(out.JSON).JSON))
		if testing.Verbose() {
			t.Log(out.Report.Counts)
		}
	}
	require.NoError(t, lines.Err())
	require.Equal(t, 70, count)
}

// untouched walks both documents in step: tokens that are no placeholder have the same bytes, and so has all between them.
func untouched(t *testing.T, in, out []byte) {
	t.Helper()
	a, b := jsontext.NewDecoder(bytes.NewBuffer(in)), jsontext.NewDecoder(bytes.NewBuffer(out))
	lastA, lastB := int64(0), int64(0)
	for {
		if b.PeekKind() == '"' && a.PeekKind() != '"' { // a whole value went
			require.NoError(t, a.SkipValue())
			_, err := b.ReadToken()
			require.NoError(t, err)
			lastA, lastB = a.InputOffset(), b.InputOffset()
			continue
		}
		tokenA, errA := a.ReadToken()
		tokenB, errB := b.ReadToken()
		if errA != nil || errB != nil {
			require.Equal(t, fmt.Sprint(errA), fmt.Sprint(errB))
			return
		}
		rawA, rawB := in[lastA:a.InputOffset()], out[lastB:b.InputOffset()]
		lastA, lastB = a.InputOffset(), b.InputOffset()
		require.Equal(t, tokenA.Kind(), tokenB.Kind())
		if !bytes.Contains(rawB, []byte("[redacted:")) {
			require.Equal(t, string(rawA), string(rawB))
		}
	}
}
