package crc32c

import "testing"

func TestSum(t *testing.T) {
	// The check value of the polynomial.
	if got := Sum([]byte("123456789")); got != 0xe3069283 {
		t.Errorf("got %#x", got)
	}
	if got := Add(Sum([]byte("1234")), []byte("56789")); got != 0xe3069283 {
		t.Errorf("in two parts: got %#x", got)
	}
	if got := Sum(nil); got != 0 {
		t.Errorf("of nothing: got %#x", got)
	}
}
