package rendezvous

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxHostfileDepth is more than any accepted format needs (rdma, the deepest field, is
// at depth six).
const maxHostfileDepth = 8

// A node is a JSON value with its position.
type node struct {
	at     place
	value  any // string, json.Number, bool, nil; unless items or fields is set
	kind   nodeKind
	items  []node  // of an array
	fields []field // of an object, in order
}

type field struct {
	name string
	at   place
	node node
}

type nodeKind int

const (
	scalar nodeKind = iota
	array
	object
)

func (n *node) describe() string {
	switch n.kind {
	case array:
		return "a list"
	case object:
		return "an object"
	}
	switch v := n.value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the string %q", v)
	case json.Number:
		return "the number " + v.String()
	}
	return fmt.Sprint(n.value)
}

// A jsonReader builds nodes from text that is known to be JSON.
type jsonReader struct {
	data []byte
	dec  *json.Decoder

	// How far place has counted: its callers pass ascending offsets.
	done int
	here place
}

// readJSON parses data.
func readJSON(data []byte) (*node, *HostfileError) {
	r := &jsonReader{data: data, here: place{1, 1}}
	// Check the syntax of the whole first: after that, every token is well formed.
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		at := len(data)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = max(int(syntax.Offset)-1, 0)
		}
		text := bytes.TrimSpace(data)
		if len(text) == 0 {
			return nil, r.fail(len(data), "is empty")
		}
		if text[0] != '{' && text[0] != '[' {
			return nil, r.fail(bytes.Index(data, text), `is not JSON; write {"hosts": [{"name": "a", "addrs": ["10.0.0.1"]}, {"name": "b", "addrs": ["10.0.0.2"]}]}, or let 'thunder topo --hostfile' write it`)
		}
		return nil, r.fail(at, "is not JSON: %v", err)
	}
	r.dec = json.NewDecoder(bytes.NewReader(data))
	r.dec.UseNumber()
	n, err := r.value(0)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

func (r *jsonReader) fail(off int, format string, args ...any) *HostfileError {
	at := r.place(off)
	return &HostfileError{Line: at.line, Column: at.column, Msg: fmt.Sprintf(format, args...)}
}

// place returns the line and column of an offset, which must not be smaller than that
// of the previous call.
func (r *jsonReader) place(off int) place {
	for _, c := range r.data[r.done:min(off, len(r.data))] {
		r.here.column++
		if c == '\n' {
			r.here = place{r.here.line + 1, 1}
		}
	}
	r.done = max(r.done, off)
	return r.here
}

// next returns the offset of the next token.
func (r *jsonReader) next() int {
	off := int(r.dec.InputOffset())
	for off < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[off]) >= 0 {
		off++
	}
	return off
}

func (r *jsonReader) value(depth int) (node, *HostfileError) {
	off := r.next()
	n := node{at: r.place(off)}
	if depth > maxHostfileDepth {
		return n, r.fail(off, "is nested too deeply to be a hostfile")
	}
	tok, err := r.dec.Token()
	if err != nil {
		return n, r.fail(off, "is not JSON: %v", err)
	}
	switch tok {
	case json.Delim('['):
		n.kind = array
		for r.dec.More() {
			item, err := r.value(depth + 1)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
	case json.Delim('{'):
		n.kind = object
		seen := make(map[string]bool)
		for r.dec.More() {
			key, err := r.value(depth + 1)
			if err != nil {
				return n, err
			}
			name, _ := key.value.(string)
			if seen[name] {
				return n, &HostfileError{Line: key.at.line, Column: key.at.column, Msg: fmt.Sprintf("has the field %q twice", name)}
			}
			seen[name] = true
			val, err := r.value(depth + 1)
			if err != nil {
				return n, err
			}
			n.fields = append(n.fields, field{name, key.at, val})
		}
	default:
		n.value = tok
		return n, nil
	}
	if _, err := r.dec.Token(); err != nil { // the closing bracket
		return n, r.fail(r.next(), "is not JSON: %v", err)
	}
	return n, nil
}
