package inspect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"thundercollective/internal/recorder"
)

// A Dump is the content of one rank's flight recorder.
type Dump = recorder.Dump

// fetchTime is how long a running rank may take to answer.
const fetchTime = 2 * time.Second

// An UnansweredError lists ranks that did not answer.
type UnansweredError struct {
	Addrs []string
	Err   error // of the first
}

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("no answer from %s (is that the address in the rank's THUNDER_METRICS?): %v", strings.Join(e.Addrs, ", "), e.Err)
}

func (e *UnansweredError) Unwrap() error { return e.Err }

// Load reads dumps. A source is a directory with dump files, a file, or the host:port at
// which a running rank serves its metrics. All running ranks are asked at the same time. If
// some do not answer, Load returns the dumps of the others and an UnansweredError.
func Load(ctx context.Context, sources []string) ([]*Dump, error) {
	dumps := make([][]*Dump, len(sources))
	errs := make([]error, len(sources))
	var asked sync.WaitGroup
	for i, s := range sources {
		info, err := os.Stat(s)
		switch {
		case err == nil && info.IsDir():
			dumps[i], errs[i] = readDir(s)
		case err == nil:
			dumps[i], errs[i] = readFile(s)
		case strings.Contains(s, ":"):
			asked.Go(func() { dumps[i], errs[i] = fetch(ctx, s) })
		default:
			errs[i] = fmt.Errorf("%s is not a directory, a file, or the host:port of a rank", s)
		}
	}
	asked.Wait()
	var silent *UnansweredError
	for _, err := range errs {
		one, ok := errors.AsType[*UnansweredError](err)
		switch {
		case err == nil:
		case !ok:
			return nil, err
		case silent == nil:
			silent = one
		default:
			silent.Addrs = append(silent.Addrs, one.Addrs...)
		}
	}
	if silent != nil {
		return slices.Concat(dumps...), silent
	}
	return slices.Concat(dumps...), nil
}

func readDir(dir string) (dumps []*Dump, err error) {
	paths, _ := filepath.Glob(filepath.Join(dir, recorder.Pattern))
	if len(paths) == 0 {
		return nil, fmt.Errorf("%[2]s contains no dumps (%[1]s); ranks write them to the directory in THUNDER_DUMP_DIR", recorder.Pattern, dir)
	}
	for _, path := range paths {
		d, err := readFile(path)
		if err != nil {
			return nil, err
		}
		dumps = append(dumps, d...)
	}
	return dumps, nil
}

func readFile(path string) ([]*Dump, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := recorder.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return []*Dump{d}, nil
}

// fetch gets the dump of a running rank.
func fetch(ctx context.Context, addr string) ([]*Dump, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/flight", nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, &UnansweredError{[]string{addr}, err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", addr, resp.Status)
	}
	d, err := recorder.Read(resp.Body)
	if ctx.Err() != nil {
		return nil, &UnansweredError{[]string{addr}, ctx.Err()}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return []*Dump{d}, nil
}
