package inspect

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"thundercollective/internal/recorder"
)

// A Dump is the content of one rank's flight recorder.
type Dump = recorder.Dump

// fetchTime is how long a running rank may take to answer.
const fetchTime = 5 * time.Second

// Load reads dumps. A source is a directory with dump files, a file, or the host:port at
// which a running rank serves its metrics.
func Load(ctx context.Context, sources []string) ([]*Dump, error) {
	var dumps []*Dump
	for _, s := range sources {
		info, err := os.Stat(s)
		switch {
		case err == nil && info.IsDir():
			paths, _ := filepath.Glob(filepath.Join(s, recorder.Pattern))
			if len(paths) == 0 {
				return nil, fmt.Errorf("%[2]s contains no dumps (%[1]s); ranks write them to the directory in THUNDER_DUMP_DIR", recorder.Pattern, s)
			}
			for _, path := range paths {
				d, err := readFile(path)
				if err != nil {
					return nil, err
				}
				dumps = append(dumps, d)
			}
		case err == nil:
			d, err := readFile(s)
			if err != nil {
				return nil, err
			}
			dumps = append(dumps, d)
		case strings.Contains(s, ":"):
			d, err := fetch(ctx, s)
			if err != nil {
				return nil, err
			}
			dumps = append(dumps, d)
		default:
			return nil, fmt.Errorf("%s is not a directory, a file, or the host:port of a rank", s)
		}
	}
	return dumps, nil
}

func readFile(path string) (*Dump, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := recorder.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// fetch gets the dump of a running rank.
func fetch(ctx context.Context, addr string) (*Dump, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/flight", nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer from %s (is it the address in the rank's THUNDER_METRICS?): %w", addr, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", addr, resp.Status)
	}
	d, err := recorder.Read(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return d, nil
}
