package native

import (
	"strings"
	"testing"

	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/rendezvous"
)

func job(list []hosts.Host) Job {
	return Job{
		Hosts: list, Place: hosts.Place(list), Addrs: []string{"10.0.0.1", "10.0.0.2"},
		Interfaces: []map[string]string{{"10.0.0.1": "en5", "10.1.0.1": "en6"}, {"10.0.0.2": "eth0"}},
	}
}

var two = []hosts.Host{
	{Name: "a", Slots: 1, Addrs: []string{"10.0.0.1", "10.1.0.1"}, RDMA: [][]string{nil, {"mlx5_0"}}},
	{Name: "me@b", Slots: 2, RDMA: [][]string{{"mlx5_1", "mlx5_2"}, nil}},
}

func TestWrite(t *testing.T) {
	for _, tt := range []struct {
		format, argv string
		port         int
		want         string
	}{
		{format: "mlx", want: `[
  {"ssh":"a","ips":["10.0.0.1","10.1.0.1"],"rdma":[null,"mlx5_0","mlx5_0"]},
  {"ssh":"me@b","ips":["10.0.0.2"],"rdma":[["mlx5_1","mlx5_2"],null,null]},
  {"ssh":"me@b","ips":["10.0.0.2"],"rdma":[["mlx5_1","mlx5_2"],null,null]}
]
`},
		{format: "torch", argv: "train.py --lr 3", want: `# on a
torchrun --nnodes=2 --node-rank=0 --nproc-per-node=1 --master-addr=10.0.0.1 --master-port=29500 train.py --lr 3
# on me@b
torchrun --nnodes=2 --node-rank=1 --nproc-per-node=2 --master-addr=10.0.0.1 --master-port=29500 train.py --lr 3
`},
		{format: "torch", argv: "./prog", port: 700, want: `# on a
torchrun --nnodes=2 --node-rank=0 --nproc-per-node=1 --master-addr=10.0.0.1 --master-port=700 --no-python ./prog
# on me@b
torchrun --nnodes=2 --node-rank=1 --nproc-per-node=2 --master-addr=10.0.0.1 --master-port=700 --no-python ./prog
`},
		{format: "nccl", want: `# /etc/nccl.conf on a
NCCL_SOCKET_IFNAME==en5,en6
NCCL_IB_HCA==mlx5_0
# /etc/nccl.conf on me@b
NCCL_SOCKET_IFNAME==eth0
NCCL_IB_HCA==mlx5_1,mlx5_2
`},
		{format: "llamacpp", argv: "llama-cli -m x.gguf", want: `# on me@b
rpc-server -H 10.0.0.2 -p 50052
# on me@b
rpc-server -H 10.0.0.2 -p 50053
# on a
llama-cli -m x.gguf --rpc 10.0.0.2:50052,10.0.0.2:50053
`},
	} {
		j := job(two)
		j.Argv, j.Port = strings.Fields(tt.argv), tt.port
		if got, err := Write(tt.format, j); err != nil || got != tt.want {
			t.Errorf("%s %s: %v\ngot\n%s\nwant\n%s", tt.format, tt.argv, err, got, tt.want)
		}
	}
}

// What we write for MLX, we read ourselves.
func TestRoundTrip(t *testing.T) {
	text, err := Write("mlx", job(two))
	if err != nil {
		t.Fatal(err)
	}
	f, err := rendezvous.ParseHostfile("mlx.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if f.Size() != 3 {
		t.Errorf("%d ranks", f.Size())
	}
}

func TestWriteErrors(t *testing.T) {
	if _, err := Write("gloo", job(two)); err == nil || !strings.Contains(err.Error(), "llamacpp, mlx, nccl, torch") {
		t.Errorf("unknown format: %v", err)
	}
	j := job(two)
	j.Interfaces[1] = nil
	if _, err := Write("nccl", j); err == nil || !strings.Contains(err.Error(), "10.0.0.2") {
		t.Errorf("unknown interface: %v", err)
	}
}
