{{- define "platform.edgeName" -}}{{ include "service.nameOf" (list . "edge") }}{{- end }}

{{- /* Where nginx finds its configuration and the page, and writes what it has to write. */}}
{{- define "platform.edgePrefix" -}}/edge{{- end }}

{{- /* How long what an ended pod is working on may take: as long as nginx waits for a service. */}}
{{- define "platform.edgeLongestSeconds" -}}30{{- end }}

{{- /*
Where the edge listens. A pod that ends is told so by a file: its answers then close their connection,
and the client's next request comes by a new one, to another pod. Without that, nginx would close
connections in which a request may just be on its way.
*/}}
{{- define "platform.listen" -}}
listen {{ include "service.httpPort" . }};

set $edge_connection "";
if (-f {{ include "platform.edgePrefix" . }}/ending) {
  set $edge_connection close;
}
add_header Connection $edge_connection always;
{{- end }}

{{- /*
The upstreams, each the address of a Service, behind which Kubernetes picks a pod per connection. It
stands there twice, because nginx tries a server only once: so a second try may find another pod. A
connection is renewed now and then, so that new pods get their share, and always by nginx (a service
keeps an idle one for 75 s, and for 5 s while it ends): no request meets a connection that the other
side is closing.
*/}}
{{- define "platform.upstreams" -}}
{{- $root := . }}
{{- range $name := list "users" "catalog" "reports" }}
upstream {{ $name }} {
  {{- if include "platform.hasService" (list $root $name) }}
  {{- $host := include "service.name" (get $root.Subcharts $name) }}
  server {{ $host }}:80 max_fails=0;
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
