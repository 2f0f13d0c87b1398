// A client of the xDS protocol over go-control-plane's generated stubs, which a test drives by lines of JSON: it opens
// streams, sends requests, and prints each response.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpoints "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/anypb"
)

// A line of the test: a stream to open, or a request to send.
type line struct {
	Open    string   `json:"open"`
	Request *request `json:"request"`
}

type request struct {
	Node        string            `json:"node"`
	Type        string            `json:"type"`
	Names       []string          `json:"names"`
	Subscribe   []string          `json:"subscribe"`
	Unsubscribe []string          `json:"unsubscribe"`
	Versions    map[string]string `json:"versions"`
	Nonce       string            `json:"nonce"`
	Refuses     string            `json:"refuses"`
}

// What is printed of a response: the version that each assignment states (the name of its first endpoint), and that the
// response states for it.
type response struct {
	Stream   int               `json:"stream"`
	Type     string            `json:"type"`
	Nonce    string            `json:"nonce"`
	Pools    map[string]string `json:"pools"`
	Versions map[string]string `json:"versions"`
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func (r *request) node() *core.Node {
	if r.Node == "" {
		return nil
	}
	return &core.Node{Id: r.Node, Cluster: "edge"}
}

func (r *request) refusal() *status.Status {
	if r.Refuses == "" {
		return nil
	}
	return &status.Status{Code: 3, Message: r.Refuses}
}

func (r *request) sotw() *discovery.DiscoveryRequest {
	return &discovery.DiscoveryRequest{Node: r.node(), TypeUrl: r.Type, ResourceNames: r.Names, ResponseNonce: r.Nonce, ErrorDetail: r.refusal()}
}

func (r *request) delta() *discovery.DeltaDiscoveryRequest {
	return &discovery.DeltaDiscoveryRequest{Node: r.node(), TypeUrl: r.Type, ResourceNamesSubscribe: r.Subscribe, ResourceNamesUnsubscribe: r.Unsubscribe,
		InitialResourceVersions: r.Versions, ResponseNonce: r.Nonce, ErrorDetail: r.refusal()}
}

func (r *response) add(resource *anypb.Any, version string) {
	assignment := &endpoint.ClusterLoadAssignment{}
	if err := resource.UnmarshalTo(assignment); err != nil {
		fail(err)
	}
	if err := assignment.ValidateAll(); err != nil {
		fail(err)
	}
	r.Pools[assignment.ClusterName] = assignment.Endpoints[0].LbEndpoints[0].GetEndpoint().Hostname
	r.Versions[assignment.ClusterName] = version
}

type sotwStream interface {
	Send(*discovery.DiscoveryRequest) error
	Recv() (*discovery.DiscoveryResponse, error)
}

type deltaStream interface {
	Send(*discovery.DeltaDiscoveryRequest) error
	Recv() (*discovery.DeltaDiscoveryResponse, error)
}

func print(r *response) {
	text, err := json.Marshal(r)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

func readSotw(number int, stream sotwStream) {
	for {
		received, err := stream.Recv()
		if err != nil {
			return
		}
		r := &response{Stream: number, Type: received.TypeUrl, Nonce: received.Nonce, Pools: map[string]string{}, Versions: map[string]string{}}
		for _, resource := range received.Resources {
			r.add(resource, received.VersionInfo)
		}
		print(r)
	}
}

func readDelta(number int, stream deltaStream) {
	for {
		received, err := stream.Recv()
		if err != nil {
			return
		}
		r := &response{Stream: number, Type: received.TypeUrl, Nonce: received.Nonce, Pools: map[string]string{}, Versions: map[string]string{}}
		for _, resource := range received.Resources {
			r.add(resource.Resource, resource.Version)
		}
		print(r)
	}
}

func main() {
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fail(err)
	}
	ads := discovery.NewAggregatedDiscoveryServiceClient(connection)
	eds := endpoints.NewEndpointDiscoveryServiceClient(connection)
	end := func() {}
	send := func(*request) error { return nil }
	number := 0
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var one line
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			fail(err)
		}
		if one.Open != "" {
			end()
			var ctx context.Context
			ctx, end = context.WithCancel(context.Background())
			number++
			var sotw sotwStream
			var delta deltaStream
			switch one.Open {
			case "ads sotw":
				sotw, err = ads.StreamAggregatedResources(ctx)
			case "ads delta":
				delta, err = ads.DeltaAggregatedResources(ctx)
			case "eds sotw":
				sotw, err = eds.StreamEndpoints(ctx)
			case "eds delta":
				delta, err = eds.DeltaEndpoints(ctx)
			}
			if err != nil {
				fail(err)
			}
			if sotw != nil {
				send = func(r *request) error { return sotw.Send(r.sotw()) }
				go readSotw(number, sotw)
			} else {
				send = func(r *request) error { return delta.Send(r.delta()) }
				go readDelta(number, delta)
			}
		}
		if one.Request != nil {
			if err := send(one.Request); err != nil {
				fail(err)
			}
		}
	}
}
