package env

import (
	"slices"
	"strings"
	"testing"
)

func setting(t *testing.T, list []Setting, name string) Setting {
	t.Helper()
	i := slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("%s is not listed", name)
	}
	return list[i]
}

func TestSurvey(t *testing.T) {
	list, err := Survey(nil)
	if err != nil || len(list) != len(All()) {
		t.Errorf("%d settings, %v", len(list), err)
	}
	list, err = Survey([]string{
		"THUNDER_TIMEOUT=soon", "THUNDER_TIMEOUT=1s", "THUNDER_TOKEN=swordfish", "THUNDER_LAUNCH_ID=1", "THUNDER_RANK=2",
		"THUNDER_FABRIC=tcp", Prefix + "TOKN=sturgeon", Prefix + "SKY_COLOUR=blue",
	})
	for name, want := range map[string]Setting{
		Timeout:               {Value: "soon", Source: Environment, Problem: "give a positive duration such as 90s or 1m30s; a number alone is seconds"},
		Token:                 {Value: "set, 9 bytes", Source: Environment},
		Rank:                  {Value: "2", Source: Launcher},
		Fabric:                {Value: "tcp", Source: Environment},
		WorldSize:             {Source: NotSet},
		Log:                   {Value: "warn", Source: FromDefault},
		Prefix + "TOKN":       {Value: "set, 8 bytes", Source: Environment, Problem: "did you mean THUNDER_TOKEN?"},
		Prefix + "SKY_COLOUR": {Value: "set, 4 bytes", Source: Environment},
	} {
		if got := setting(t, list, name); got.Value != want.Value || got.Source != want.Source || got.Problem != want.Problem {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if err == nil || strings.Count(err.Error(), "\n") != 1 || strings.Contains(err.Error(), "sturgeon") {
		t.Errorf("got %v, want two errors without a secret", err)
	}
}
