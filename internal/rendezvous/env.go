package rendezvous

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxToken bounds what is read of a token file.
const maxToken = 4096

// FromEnv reads what the environment says; getenv is os.Getenv or a stand-in.
//
//	THUNDER_RANK, THUNDER_WORLD_SIZE   who this is, of how many
//	THUNDER_COORDINATOR                host:port where the ranks meet
//	THUNDER_COORDINATOR_SERVED         1: rank 0 need not serve it
//	THUNDER_ADDR                       host:port[,host:port...] where this rank
//	                                   listens, an entry per rail; only with a
//	                                   coordinator
//	THUNDER_EDGES                      which ranks are joined, see ParseEdges; all
//	                                   of them if it is not set
//	THUNDER_HOSTFILE                   path, used if there is no coordinator
//	THUNDER_TOKEN, THUNDER_TOKEN_FILE  the secret, or where it is; not both
//	THUNDER_INSECURE                   1: no token needed beyond loopback
//	THUNDER_START_TIMEOUT              how far apart ranks may start: 90s, or 90
//	THUNDER_GENERATION                 incarnation of the job
//	MLX_HOSTFILE, MLX_RANK             as mlx.launch sets them, if none of the
//	                                   THUNDER_ ways is there
//
// An error is a *ConfigError that names the variable; it wraps what reading the
// token file gave. The result is not validated: flags may still be
// merged into it.
func FromEnv(getenv func(string) string) (Config, error) {
	e := envReader{getenv: getenv}
	c := Config{
		Rank:         e.number("THUNDER_RANK", NoRank, 0, MaxSize-1),
		Size:         e.number("THUNDER_WORLD_SIZE", 0, 1, MaxSize),
		Coordinator:  getenv("THUNDER_COORDINATOR"),
		Served:       e.flag("THUNDER_COORDINATOR_SERVED"),
		Hostfile:     getenv("THUNDER_HOSTFILE"),
		Edges:        getenv("THUNDER_EDGES"),
		Token:        e.token(),
		Insecure:     e.flag("THUNDER_INSECURE"),
		StartTimeout: e.duration("THUNDER_START_TIMEOUT"),
		Generation:   e.generation("THUNDER_GENERATION"),
	}
	switch {
	case c.Coordinator != "":
		// A launcher sets the coordinator; a hostfile next to it is the one the
		// user gave to the launcher.
		c.Hostfile = ""
		if addr := getenv("THUNDER_ADDR"); addr != "" {
			c.Addrs = []string{addr}
		}
	case c.Hostfile == "":
		e.mlx(&c)
	}
	return c, errors.Join(e.errs...)
}

// An envReader parses variables and collects what is wrong with them.
type envReader struct {
	getenv func(string) string
	errs   []error
}

func (e *envReader) bad(name, format string, args ...any) {
	e.errs = append(e.errs, badConfig(name, format, args...))
}

func (e *envReader) number(name string, absent, low, high int) int {
	text := e.getenv(name)
	if text == "" {
		return absent
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		e.bad(name, "%q is no number from %d to %d", text, low, high)
		return absent
	}
	return n
}

func (e *envReader) generation(name string) uint32 {
	text := e.getenv(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		e.bad(name, "%q is no number from 0 to %d", text, uint32(math.MaxUint32))
	}
	return uint32(n)
}

func (e *envReader) flag(name string) bool {
	text := e.getenv(name)
	if text == "" {
		return false
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		e.bad(name, "%q is neither 1 nor 0", text)
	}
	return on
}

func (e *envReader) duration(name string) time.Duration {
	text := e.getenv(name)
	if text == "" {
		return 0
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		e.bad(name, "%q is no positive duration; give seconds, or a unit as in 1m30s", e.getenv(name))
		return 0
	}
	return d
}

// token does not repeat what it read: errors are logged.
func (e *envReader) token() []byte {
	text, path := e.getenv("THUNDER_TOKEN"), e.getenv("THUNDER_TOKEN_FILE")
	switch {
	case text != "" && path != "":
		e.bad("THUNDER_TOKEN_FILE", "set together with THUNDER_TOKEN; set one of them")
		return nil
	case path != "":
		token, err := ReadToken(path)
		if err != nil {
			e.errs = append(e.errs, &ConfigError{Field: "THUNDER_TOKEN_FILE", Reason: err.Error(), Err: err})
		}
		return token
	case text != "" && strings.TrimSpace(text) == "":
		e.bad("THUNDER_TOKEN", "is blank; set a secret or unset it")
	}
	return []byte(strings.TrimSpace(text))
}

// ReadToken reads a token file. Space around the token does not count, so that a
// file made with echo and a variable hold the same token.
func ReadToken(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxToken {
		return nil, fmt.Errorf("%s is larger than %d bytes, so no token", path, maxToken)
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return nil, fmt.Errorf("%s is empty; write the job's secret into it", path)
	}
	return []byte(token), nil
}

// mlx takes rank and hostfile as mlx.launch sets them. For a single host it names
// a blank file, which stands for a group of one. MLX_RANK without MLX_HOSTFILE is
// for a backend of MLX that this library has no part in.
func (e *envReader) mlx(c *Config) {
	path := e.getenv("MLX_HOSTFILE")
	if path == "" {
		return
	}
	if data, err := hostfileBytes(path); err == nil && strings.TrimSpace(string(data)) == "" {
		return
	}
	c.Hostfile = path
	if c.Rank == NoRank {
		c.Rank = e.number("MLX_RANK", NoRank, 0, MaxSize-1)
	}
}
