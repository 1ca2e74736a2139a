{{- /* The folder of nginx: its configuration, the page and temporary files. */}}
{{- define "platform.edgePrefix" -}}/edge{{- end }}

{{- /* The response time-out of nginx: longer than the longest request of any service. */}}
{{- define "platform.edgeTimeoutSeconds" -}}
{{- $longest := 0 }}
{{- range include "platform.services" . | fromYamlArray }}
{{- $longest = max $longest (include "common.proxySeconds" (get $.Subcharts .) | int64) }}
{{- end }}
{{- $longest | default 30 }}
{{- end }}

{{- /* The largest body that nginx accepts, such as 1m. */}}
{{- define "platform.edgeBodySize" -}}
{{- $file := .Files.Get "files/edge/nginx.conf" }}
{{- .Values.edge.maxBodySize | default (regexReplaceAll `(?s).*client_max_body_size (\w+);.*` $file "${1}") }}
{{- end }}

{{- define "platform.edgeBodyBytes" -}}
{{- $size := include "platform.edgeBodySize" . }}
{{- $unit := get (dict "k" 1024 "m" 1048576) (regexFind "[km]" $size) | default 1 }}
{{- mul (regexFind "[0-9]+" $size) $unit }}
{{- end }}

{{- /* How long a terminating nginx keeps idle connections open. */}}
{{- define "platform.edgeKeepaliveSeconds" -}}15{{- end }}

{{- /*
The command that starts nginx. nginx 1.27.4 and later have keepalive_min_timeout. An older image would not start with
it, so the command first tests whether nginx accepts the directive.
*/}}
{{- define "platform.edgeStart" -}}
{{- $file := printf "%s/keepalive.conf" (include "platform.edgePrefix" .) -}}
echo 'keepalive_min_timeout {{ include "platform.edgeKeepaliveSeconds" . }}s;' > {{ $file }}; "$0" -t -q "$@" 2> /dev/null || rm {{ $file }}; exec "$0" "$@"
{{- end }}

{{- /*
The size limit of nginx's temporary files. nginx writes a body above 1 MiB to a file. If edge.maxBodySize allows such
bodies, the limit is that of the container's storage.
*/}}
{{- define "platform.edgeVolumeSize" -}}
{{- $storage := dig "limits" "ephemeral-storage" "" (.Values.edge.resources | default dict) }}
{{- if gt (include "platform.edgeBodyBytes" . | int64) 1048576 }}{{ $storage }}{{ else }}16Mi{{ end }}
{{- end }}

{{- /*
The ports of nginx, and settings that differ from nginx.conf. preStop creates the file "ending". From then on each
response has "Connection: close", so that its client opens a new connection to another pod. Otherwise nginx would itself
close connections, possibly while a request arrives.
*/}}
{{- define "platform.listen" -}}
listen {{ include "common.httpPort" . }};
include {{ include "platform.edgePrefix" . }}/keepalive.con[f];
set $page_etag '"{{ include "platform.edgePage" . | sha256sum | trunc 16 }}"';
proxy_read_timeout {{ include "platform.edgeTimeoutSeconds" . }}s;
proxy_send_timeout {{ include "platform.edgeTimeoutSeconds" . }}s;
{{- with .Values.edge.maxBodySize }}
client_max_body_size {{ . }};
{{- end }}
{{- with .Values.edge.keepAliveSeconds }}
keepalive_timeout {{ int64 . }}s;
{{- end }}

if (-f {{ include "platform.edgePrefix" . }}/ending) {
  set $edge_connection close;
}
{{- include "platform.listenTls" . }}
{{- end }}

{{- /*
The services by the name in the path, and two upstreams for each. Kubernetes chooses a pod for each connection, so
a second attempt can reach another pod. keepalive_time renews connections, so that new pods receive requests.
keepalive_timeout is shorter than the time for which a terminating pod serves idle connections (DRAIN_IDLE_MS), so
nginx always closes first. max_conns limits the requests at the pods: nginx responds with 503 to further ones. The
upstream of critical requests has no limit.
*/}}
{{- define "platform.upstreams" -}}
{{- $services := include "platform.services" . | fromYamlArray -}}
map $service_name $service {
  default "";
  {{- range $services }}
  {{ . }} {{ . }};
  {{- end }}
}
{{ range $name := $services }}
{{- $service := get $.Subcharts $name }}
{{- range $class := list "" "_critical" }}
upstream {{ $name }}{{ $class }} {
  server {{ include "common.name" $service }}:{{ $service.Values.service.port }} {{ empty $class | ternary "max_conns=600 " "" }}max_fails=0;
  keepalive 256;
  keepalive_timeout 3s;
  keepalive_time 15s;
}
{{ end }}
{{- end }}
{{- end }}

{{- /* Every file of the edge's configuration, by its name. */}}
{{- define "platform.edgeFiles" -}}
nginx.conf: |
  {{- .Files.Get "files/edge/nginx.conf" | nindent 2 }}
listen.conf: |
  {{- include "platform.listen" . | nindent 2 }}
tls.conf: |
  {{- include "platform.edgeTls" . | trim | nindent 2 }}
upstreams.conf: |
  {{- include "platform.upstreams" . | trim | nindent 2 }}
{{- end }}

{{- /* The files of the start page; system.json lists the services. */}}
{{- define "platform.edgePage" -}}
{{- $system := dict "services" (include "platform.services" . | fromYamlArray) "replicas" dict "links" dict -}}
{{- $files := dict }}
{{- range $path, $content := .Files.Glob "files/edge/page/*" }}
{{- $_ := set $files (base $path) (toString $content) }}
{{- end }}
{{- set $files "system.json" (toJson $system) | toYaml }}
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

{{- /* The peers from which blackbox exporter sends requests to services through the edge. */}}
{{- define "platform.exporters" -}}
{{- range include "platform.services" . | fromYamlArray }}
{{- $service := get $.Subcharts . }}
{{- if (include "common.shared" (list $service "entryProbe") | fromYaml).enabled }}
{{ (include "common.policy" $service | fromYaml).monitoringFrom | toYaml }}
{{- end }}
{{- end }}
{{- end }}
