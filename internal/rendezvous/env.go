package rendezvous

import (
	"fmt"
	"io"
	"os"
	"strings"

	"thundercollective/internal/env"
)

// maxToken bounds what is read of a token file.
const maxToken = 4096

// FromEnv reads what the environment says of the job; getenv is os.Getenv or a stand-in.
// The variables are those of the parts env.Join and env.Security. MLX_HOSTFILE and MLX_RANK,
// as mlx.launch sets them, count if there is neither a coordinator nor a hostfile.
//
// An error is an *env.Error that names the variable, or several of them joined. The result
// is not validated: flags may still be merged into it.
func FromEnv(getenv func(string) string) (Config, error) {
	r := &env.Reader{Getenv: getenv}
	c := Config{
		Rank:         r.IntOr(env.Rank, NoRank),
		Size:         r.Int(env.WorldSize),
		Coordinator:  r.Text(env.Coordinator),
		Served:       r.Bool(env.CoordinatorServed),
		Hostfile:     r.Text(env.Hostfile),
		Ports:        r.Ports(env.Ports),
		Edges:        r.Text(env.Edges),
		Token:        readToken(r),
		Insecure:     r.Bool(env.Insecure),
		StartTimeout: r.Duration(env.StartTimeout),
		Generation:   uint32(r.Int(env.Generation)),
	}
	switch {
	case c.Coordinator != "":
		// A launcher sets the coordinator; a hostfile next to it is the one the
		// user gave to the launcher.
		c.Hostfile = ""
		if addr := r.Text(env.Addr); addr != "" {
			c.Addrs = []string{addr}
		}
	case c.Hostfile == "":
		fromMLX(r, &c)
	}
	return c, r.Err()
}

// readToken returns the job's secret. Its errors do not repeat it: they are logged.
func readToken(r *env.Reader) []byte {
	text, path := r.Text(env.Token), r.Text(env.TokenFile)
	switch {
	case text != "" && path != "":
		r.Fail(&env.Error{Name: env.TokenFile, Want: "set together with " + env.Token + "; set one of them"})
		return nil
	case path != "":
		token, err := ReadToken(path)
		if err != nil {
			r.Fail(&env.Error{Name: env.TokenFile, Want: err.Error(), Err: err})
		}
		return token
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

var mlxRank = env.Var{Name: "MLX_RANK", Kind: env.Number, Max: MaxSize - 1}

// fromMLX takes rank and hostfile as mlx.launch sets them. For a single host it names
// a blank file, which stands for a group of one. MLX_RANK without MLX_HOSTFILE is
// for a backend of MLX that this library has no part in.
func fromMLX(r *env.Reader, c *Config) {
	path := r.Getenv("MLX_HOSTFILE")
	if path == "" {
		return
	}
	if data, err := hostfileBytes(path); err == nil && strings.TrimSpace(string(data)) == "" {
		return
	}
	c.Hostfile = path
	if text := r.Getenv(mlxRank.Name); c.Rank == NoRank && text != "" {
		rank, err := mlxRank.Number(text)
		if err != nil {
			r.Fail(err)
			return
		}
		c.Rank = int(rank)
	}
}
