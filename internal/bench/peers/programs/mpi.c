// Times Open MPI's collectives: mpi MODE SIZE..., a line "SIZE MICROS" for each size
// from rank 0. As in thunder bench, sizes are of the whole buffer, and times are the
// median over the iterations of the mean over the ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void step(const char *mode, int rank, int size, float *in, float *out, long n) {
	int block = (int)(n / size);
	if (!strcmp(mode, "allreduce"))
		MPI_Allreduce(MPI_IN_PLACE, out, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	else if (!strcmp(mode, "allgather"))
		MPI_Allgather(in, block, MPI_FLOAT, out, block, MPI_FLOAT, MPI_COMM_WORLD);
	else if (!strcmp(mode, "reducescatter"))
		MPI_Reduce_scatter_block(in, out, block, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	else if (!strcmp(mode, "broadcast"))
		MPI_Bcast(out, (int)n, MPI_FLOAT, 0, MPI_COMM_WORLD);
	else if (!strcmp(mode, "alltoall"))
		MPI_Alltoall(in, block, MPI_FLOAT, out, block, MPI_FLOAT, MPI_COMM_WORLD);
	else {
		fprintf(stderr, "mpi: unknown mode %s\n", mode);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 2; i < argc; i++) {
		long n = atol(argv[i]) / 4;
		if (n < size && strcmp(argv[1], "allreduce") && strcmp(argv[1], "broadcast"))
			n = size;
		float *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
		for (long k = 0; k < n; k++) /* memory that nobody has written is one page of zeros */
			in[k] = out[k] = 1;
		for (int k = 0; k < 3; k++)
			step(argv[1], rank, size, in, out, n);
		double start = MPI_Wtime();
		step(argv[1], rank, size, in, out, n);
		double once = MPI_Wtime() - start;
		int iters = (int)(0.15 / (once + 1e-7));
		iters = iters < 5 ? 5 : iters > 3000 ? 3000 : iters;
		MPI_Bcast(&iters, 1, MPI_INT, 0, MPI_COMM_WORLD);
		double *took = malloc(iters * sizeof *took);
		MPI_Barrier(MPI_COMM_WORLD);
		int apart = !strcmp(argv[1], "broadcast"); /* or the root would run ahead */
		for (int k = 0; k < iters; k++) {
			if (apart)
				MPI_Barrier(MPI_COMM_WORLD);
			start = MPI_Wtime();
			step(argv[1], rank, size, in, out, n);
			took[k] = MPI_Wtime() - start;
		}
		MPI_Allreduce(MPI_IN_PLACE, took, iters, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		qsort(took, iters, sizeof *took, ascending);
		if (rank == 0) {
			printf("%s %.3f\n", argv[i], took[iters / 2] / size * 1e6);
			fflush(stdout);
		}
		free(took);
		free(in);
		free(out);
	}
	MPI_Finalize();
	return 0;
}
