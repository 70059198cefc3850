# An image with thunder and nothing else, about 15 MB:
#
#   docker build -t thunder --build-arg VERSION=$(git describe --always) .
#   docker run --rm thunder bench allreduce
#
# A program of your own is built on top of it, FROM thunder or the other way around:
# COPY --from=thunder /usr/local/bin/thunder /usr/local/bin/thunder.
#
# For RDMA, thunder loads a library of the system, so it needs an image that has one:
#
#   docker build -t thunder-rdma --build-arg TAGS= --build-arg BASE=<image with libibverbs> .
ARG GO=golang:1.26
ARG BASE=scratch

FROM ${GO} AS build
ARG TAGS=nordma
ARG VERSION=devel
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -tags "${TAGS}" -ldflags "-s -w -X main.stamp=${VERSION}" -o /out/usr/local/bin/thunder ./cmd/thunder
RUN mkdir -m 1777 /out/tmp

FROM ${BASE}
COPY --from=build /out/ /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENTRYPOINT ["thunder"]
CMD ["help"]
