{{- define "platform.edgeName" -}}{{ include "service.nameOf" (list . "edge") }}{{- end }}

{{- /* Where nginx finds its configuration and the page, and writes what it has to write. */}}
{{- define "platform.edgePrefix" -}}/edge{{- end }}

{{- /* The longest that nginx waits for a service: longer than any service lets a request take. */}}
{{- define "platform.edgeLongestSeconds" -}}
{{- $longest := 0 }}
{{- range include "platform.services" . | fromYamlArray }}
{{- $longest = max $longest (include "service.proxySeconds" (get $.Subcharts .) | int64) }}
{{- end }}
{{- $longest | default 30 }}
{{- end }}

{{- /* The largest body that any service accepts, in bytes. */}}
{{- define "platform.edgeBodyLimit" -}}
{{- $largest := 1048576 | int64 }}
{{- range include "platform.services" . | fromYamlArray }}
{{- $largest = max $largest (include "service.bodyLimit" (get $.Subcharts .) | int64) }}
{{- end }}
{{- $largest }}
{{- end }}

{{- define "platform.edgeLimits" -}}
client_max_body_size {{ include "platform.edgeBodyLimit" . }};
proxy_read_timeout {{ include "platform.edgeLongestSeconds" . }}s;
proxy_send_timeout {{ include "platform.edgeLongestSeconds" . }}s;
{{- end }}

{{- /* For how long nginx leaves idle connections open at its end. */}}
{{- define "platform.edgeKeepaliveSeconds" -}}15{{- end }}

{{- /*
Starts nginx. keepalive_min_timeout is in nginx from 1.27.4 on; an image with an older one, which the
values may name, would not start with it. So nginx itself is asked whether it takes the directive.
*/}}
{{- define "platform.edgeStart" -}}
{{- $file := printf "%s/keepalive.conf" (include "platform.edgePrefix" .) -}}
echo 'keepalive_min_timeout {{ include "platform.edgeKeepaliveSeconds" . }}s;' > {{ $file }}; "$0" -t -q "$@" 2> /dev/null || rm {{ $file }}; exec "$0" "$@"
{{- end }}

{{- /*
The volume that nginx writes to. A body above 1 MiB is a file until it has been passed on; then the
limit of the container's storage is that of the volume.
*/}}
{{- define "platform.edgeVolumeSize" -}}
{{- $storage := dig "limits" "ephemeral-storage" "" (.Values.edge.resources | default dict) }}
{{- if gt (include "platform.edgeBodyLimit" . | int64) 1048576 }}{{ $storage }}{{ else }}16Mi{{ end }}
{{- end }}

{{- /*
Where the edge listens. A pod that ends is told so by a file: its answers then close their connection,
and the client's next request comes by a new one, to another pod. Without that, nginx would close
connections in which a request may just be on its way.
*/}}
{{- define "platform.listen" -}}
listen {{ include "service.httpPort" . }};
include {{ include "platform.edgePrefix" . }}/keepalive.con[f];

set $edge_connection "";
if (-f {{ include "platform.edgePrefix" . }}/ending) {
  set $edge_connection close;
}
add_header Connection $edge_connection always;
{{- end }}

{{- /*
The upstreams: one Service each. Kubernetes picks a pod for each connection, so that a second attempt may
reach another pod. keepalive_time lets new pods receive requests. keepalive_timeout is shorter than the
5 s for which a pod that ends serves idle connections: nginx is always the side that closes.
*/}}
{{- define "platform.upstreams" -}}
{{- $root := . }}
{{- range $name := list "users" "catalog" "reports" }}
upstream {{ $name }} {
  {{- if include "platform.hasService" (list $root $name) }}
  {{- $host := include "service.name" (get $root.Subcharts $name) }}
  server {{ $host }}:80 max_fails=0;
  keepalive 32;
  keepalive_timeout 3s;
  keepalive_time 15s;
  {{- else }}
  # Not installed: answered 502.
  server 127.0.0.1:1 down;
  {{- end }}
}
{{ end }}
{{- end }}

{{- /* Every file of the edge's configuration, by its name. */}}
{{- define "platform.edgeFiles" -}}
nginx.conf: |
  {{- .Files.Get "files/edge/nginx.conf" | nindent 2 }}
listen.conf: |
  {{- include "platform.listen" . | nindent 2 }}
limits.conf: |
  {{- include "platform.edgeLimits" . | nindent 2 }}
page.conf: |
  map "" $page_version { default "{{ include "platform.edgePage" . | sha256sum | trunc 16 }}"; }
upstreams.conf: |
  {{- include "platform.upstreams" . | trim | nindent 2 }}
{{- end }}

{{- define "platform.edgePage" -}}
{{- (.Files.Glob "files/edge/page/*").AsConfig }}
{{- end }}

{{- define "platform.dnsEgress" -}}
{{- $global := .Values.global.networkPolicy -}}
- to:
    {{- toYaml ($global.dnsTo | default .Values.edge.dnsTo) | nindent 4 }}
  ports:
    {{- range $global.dnsPorts | default .Values.edge.dnsPorts }}
    - { port: {{ . }}, protocol: UDP }
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
{{- end }}
