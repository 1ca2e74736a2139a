{{- /* Runs `common.values` for each service, so that templates can read their values. */}}
{{- define "platform.values" -}}
{{- range omit .Subcharts "edge" "trial" }}{{ include "common.values" . }}{{ end }}
{{- end }}

{{- /* The files of nginx, by their names: (dict "root" $ "edge" values). */}}
{{- define "platform.nginx" -}}
{{- $edge := .edge }}
{{- with .root }}
{{- $services := omit .Subcharts "edge" "trial" -}}
nginx.conf: |
  {{- .Files.Get "files/edge/nginx.conf" | nindent 2 }}
listen.conf: |
  listen {{ $edge.containerPorts.http }};
  # A pattern, because the file may be missing.
  include /edge/keepalive.con[f];
  set $page_etag '"{{ include "platform.page" . | sha256sum | trunc 16 }}"';
  if (-f /edge/ending) {
    set $edge_connection close;
  }
settings.conf: |
  {{- with .Values.nginx }}
  client_max_body_size {{ int64 .maxBodyBytes }};
  keepalive_timeout {{ int64 .keepAliveSeconds }}s;
  proxy_read_timeout {{ $edge.requestTimeoutSeconds }}s;
  proxy_send_timeout {{ $edge.requestTimeoutSeconds }}s;
  map "" $trust_traceparent { default {{ .trustTraceparent | ternary "1" `""` }}; }
  split_clients $request_id $trace_flags {
    {{- with .traceRatio }}
    {{ printf "%.2f" (mulf 100 .) }}% 01;
    {{- end }}
    * 00;
  }
  {{- range .trustedProxies }}
  set_real_ip_from {{ . }};
  {{- end }}
  {{- end }}
  {{- if $edge.metrics.serviceMonitor.enabled }}
  access_log syslog:server=127.0.0.1:9125,nohostname,tag=edge metrics;
  {{- end }}
statsd.yaml: |
  {{- .Files.Get "files/edge/statsd.yaml" | nindent 2 }}
{{- /*
Two upstreams for each service. Kubernetes chooses a pod for each connection, so a second attempt can reach another pod.
keepalive_time renews connections, so that new pods receive requests. keepalive_timeout is shorter than the time for which
a terminating pod serves idle connections (DRAIN_IDLE_MS), so nginx always closes first. The upstream of critical requests
has no limit.
*/}}
upstreams.conf: |
  map $service_name $service {
    default "";
    {{- range $name, $_ := $services }}
    {{ $name }} {{ $name }};
    {{- end }}
  }
  {{- range $name, $service := $services }}
  {{- $pods := include "common.maxReplicas" $service | float64 }}
  {{- $perPod := get $.root.Values.nginx.maxConnectionsPerPod $name | default $.root.Values.nginx.maxConnectionsPerPod.default }}
  {{- $edgePods := $edge.autoscaling.enabled | ternary $edge.autoscaling.minReplicas $edge.replicaCount }}
  {{- $limit := divf (mulf $perPod $pods) $edgePods | ceil | int }}
  {{- range $class, $limit := dict "" (printf " max_conns=%d" $limit) "_critical" "" }}
  upstream {{ $name }}{{ $class }} {
    server {{ include "common.name" $service }}:{{ $service.Values.service.port }}{{ $limit }} max_fails=0;
    keepalive 256;
    keepalive_timeout 3s;
    keepalive_time 15s;
  }
  {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* The files of the start page; system.json lists the services. */}}
{{- define "platform.page" -}}
{{- $files := dict "system.json" (dict "services" (omit .Subcharts "edge" "trial" | keys | sortAlpha) "replicas" dict "links" dict | toJson) }}
{{- range $path, $content := .Files.Glob "files/edge/page/*" }}
{{- if ne (base $path) "system.json" }}{{ $_ := set $files (base $path) (toString $content) }}{{ end }}
{{- end }}
{{- toYaml $files }}
{{- end }}
