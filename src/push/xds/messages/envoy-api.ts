/** What the xDS server needs of Envoy's API. packaging/envoy-api.mjs takes it from Envoy's definitions. */
export const envoyApi: { readonly nested: Record<string, object> } = {
  nested: {
    envoy: {
      nested: {
        service: {
          nested: {
            discovery: {
              nested: {
                v3: {
                  nested: {
                    DiscoveryRequest: {
                      fields: {
                        version_info: {
                          type: "string",
                          id: 1,
                        },
                        node: {
                          type: "envoy.config.core.v3.Node",
                          id: 2,
                        },
                        resource_names: {
                          rule: "repeated",
                          type: "string",
                          id: 3,
                        },
                        type_url: {
                          type: "string",
                          id: 4,
                        },
                        response_nonce: {
                          type: "string",
                          id: 5,
                        },
                        error_detail: {
                          type: "google.rpc.Status",
                          id: 6,
                        },
                      },
                    },
                    DiscoveryResponse: {
                      fields: {
                        version_info: {
                          type: "string",
                          id: 1,
                        },
                        resources: {
                          rule: "repeated",
                          type: "google.protobuf.Any",
                          id: 2,
                        },
                        type_url: {
                          type: "string",
                          id: 4,
                        },
                        nonce: {
                          type: "string",
                          id: 5,
                        },
                        control_plane: {
                          type: "envoy.config.core.v3.ControlPlane",
                          id: 6,
                        },
                      },
                    },
                    DeltaDiscoveryRequest: {
                      fields: {
                        node: {
                          type: "envoy.config.core.v3.Node",
                          id: 1,
                        },
                        type_url: {
                          type: "string",
                          id: 2,
                        },
                        resource_names_subscribe: {
                          rule: "repeated",
                          type: "string",
                          id: 3,
                        },
                        resource_names_unsubscribe: {
                          rule: "repeated",
                          type: "string",
                          id: 4,
                        },
                        initial_resource_versions: {
                          keyType: "string",
                          type: "string",
                          id: 5,
                        },
                        response_nonce: {
                          type: "string",
                          id: 6,
                        },
                        error_detail: {
                          type: "google.rpc.Status",
                          id: 7,
                        },
                      },
                    },
                    DeltaDiscoveryResponse: {
                      fields: {
                        system_version_info: {
                          type: "string",
                          id: 1,
                        },
                        resources: {
                          rule: "repeated",
                          type: "envoy.service.discovery.v3.Resource",
                          id: 2,
                        },
                        type_url: {
                          type: "string",
                          id: 4,
                        },
                        nonce: {
                          type: "string",
                          id: 5,
                        },
                        control_plane: {
                          type: "envoy.config.core.v3.ControlPlane",
                          id: 7,
                        },
                      },
                    },
                    Resource: {
                      fields: {
                        name: {
                          type: "string",
                          id: 3,
                        },
                        version: {
                          type: "string",
                          id: 1,
                        },
                        resource: {
                          type: "google.protobuf.Any",
                          id: 2,
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
        config: {
          nested: {
            core: {
              nested: {
                v3: {
                  nested: {
                    Node: {
                      fields: {
                        id: {
                          type: "string",
                          id: 1,
                        },
                        cluster: {
                          type: "string",
                          id: 2,
                        },
                        locality: {
                          type: "envoy.config.core.v3.Locality",
                          id: 4,
                        },
                        user_agent_name: {
                          type: "string",
                          id: 6,
                        },
                        user_agent_build_version: {
                          type: "envoy.config.core.v3.BuildVersion",
                          id: 8,
                        },
                      },
                    },
                    BuildVersion: {
                      fields: {
                        version: {
                          type: "envoy.type.v3.SemanticVersion",
                          id: 1,
                        },
                      },
                    },
                    Locality: {
                      fields: {
                        zone: {
                          type: "string",
                          id: 2,
                        },
                      },
                    },
                    ControlPlane: {
                      fields: {
                        identifier: {
                          type: "string",
                          id: 1,
                        },
                      },
                    },
                    Address: {
                      fields: {
                        socket_address: {
                          type: "envoy.config.core.v3.SocketAddress",
                          id: 1,
                        },
                      },
                    },
                    SocketAddress: {
                      fields: {
                        address: {
                          type: "string",
                          id: 2,
                        },
                        port_value: {
                          type: "uint32",
                          id: 3,
                        },
                      },
                    },
                    HealthStatus: {
                      values: {
                        UNKNOWN: 0,
                        HEALTHY: 1,
                        UNHEALTHY: 2,
                        DRAINING: 3,
                        TIMEOUT: 4,
                        DEGRADED: 5,
                      },
                    },
                  },
                },
              },
            },
            endpoint: {
              nested: {
                v3: {
                  nested: {
                    ClusterLoadAssignment: {
                      fields: {
                        cluster_name: {
                          type: "string",
                          id: 1,
                        },
                        endpoints: {
                          rule: "repeated",
                          type: "envoy.config.endpoint.v3.LocalityLbEndpoints",
                          id: 2,
                        },
                        policy: {
                          type: "envoy.config.endpoint.v3.ClusterLoadAssignment.Policy",
                          id: 4,
                        },
                      },
                      nested: {
                        Policy: {
                          fields: {
                            overprovisioning_factor: {
                              type: "google.protobuf.UInt32Value",
                              id: 3,
                            },
                            endpoint_stale_after: {
                              type: "google.protobuf.Duration",
                              id: 4,
                            },
                          },
                        },
                      },
                    },
                    LocalityLbEndpoints: {
                      fields: {
                        locality: {
                          type: "envoy.config.core.v3.Locality",
                          id: 1,
                        },
                        lb_endpoints: {
                          rule: "repeated",
                          type: "envoy.config.endpoint.v3.LbEndpoint",
                          id: 2,
                        },
                        priority: {
                          type: "uint32",
                          id: 5,
                        },
                      },
                    },
                    LbEndpoint: {
                      fields: {
                        endpoint: {
                          type: "envoy.config.endpoint.v3.Endpoint",
                          id: 1,
                        },
                        health_status: {
                          type: "envoy.config.core.v3.HealthStatus",
                          id: 2,
                        },
                        load_balancing_weight: {
                          type: "google.protobuf.UInt32Value",
                          id: 4,
                        },
                      },
                    },
                    Endpoint: {
                      fields: {
                        address: {
                          type: "envoy.config.core.v3.Address",
                          id: 1,
                        },
                        health_check_config: {
                          type: "envoy.config.endpoint.v3.Endpoint.HealthCheckConfig",
                          id: 2,
                        },
                        hostname: {
                          type: "string",
                          id: 3,
                        },
                      },
                      nested: {
                        HealthCheckConfig: {
                          fields: {
                            hostname: {
                              type: "string",
                              id: 2,
                            },
                            address: {
                              type: "envoy.config.core.v3.Address",
                              id: 3,
                            },
                          },
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
        type: {
          nested: {
            v3: {
              nested: {
                SemanticVersion: {
                  fields: {
                    major_number: {
                      type: "uint32",
                      id: 1,
                    },
                    minor_number: {
                      type: "uint32",
                      id: 2,
                    },
                    patch: {
                      type: "uint32",
                      id: 3,
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
    google: {
      nested: {
        rpc: {
          nested: {
            Status: {
              fields: {
                code: {
                  type: "int32",
                  id: 1,
                },
                message: {
                  type: "string",
                  id: 2,
                },
              },
            },
          },
        },
        protobuf: {
          nested: {
            Any: {
              fields: {
                type_url: {
                  type: "string",
                  id: 1,
                },
                value: {
                  type: "bytes",
                  id: 2,
                },
              },
            },
            UInt32Value: {
              fields: {
                value: {
                  type: "uint32",
                  id: 1,
                },
              },
            },
            Duration: {
              fields: {
                seconds: {
                  type: "int64",
                  id: 1,
                },
                nanos: {
                  type: "int32",
                  id: 2,
                },
              },
            },
          },
        },
      },
    },
  },
};
