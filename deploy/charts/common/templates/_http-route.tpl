{{- /* The paths of the service at a gateway. Other Services, such as the next version, get their share. */}}
{{- define "common.httpRoute" -}}
{{- $route := include "common.shared" (list . "httpRoute") | fromYaml }}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ include "common.name" . }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  {{- include "common.routeGateways" $route | trim | nindent 2 }}
  rules:
    {{- range $route.others }}
    {{- if .headers }}
    - matches:
        {{- include "common.routeMatches" (dict "root" $ "headers" .headers) | trim | nindent 8 }}
      {{- include "common.routeTimeouts" $ | trim | nindent 6 }}
      backendRefs:
        - name: {{ .name | quote }}
          port: {{ .port | default 80 | int64 }}
    {{- end }}
    {{- end }}
    - matches:
        {{- include "common.routeMatches" (dict "root" $) | trim | nindent 8 }}
      {{- include "common.routeTimeouts" . | trim | nindent 6 }}
      backendRefs:
        - name: {{ include "common.name" . }}
          port: {{ .Values.service.port }}
          weight: {{ int64 $route.weight }}
        {{- range $route.others }}
        - name: {{ .name | quote }}
          port: {{ .port | default 80 | int64 }}
          weight: {{ int64 .weight }}
        {{- end }}
{{- end }}

{{- /* The gateways and host names of a route, from the values httpRoute. */}}
{{- define "common.routeGateways" -}}
parentRefs:
  {{- toYaml .parentRefs | nindent 2 }}
{{- with .hostnames }}
hostnames:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* The requests of a rule: the paths of the service, all with these headers. A rule with headers precedes others. */}}
{{- define "common.routeMatches" -}}
{{- range include "common.paths" .root | fromYamlArray }}
- path:
    type: PathPrefix
    value: {{ . }}
  {{- with $.headers }}
  headers:
    {{- range $name, $value := . }}
    - name: {{ $name | quote }}
      value: {{ $value | quote }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "common.routeTimeouts" -}}
timeouts:
  request: {{ include "common.proxySeconds" . }}s
{{- end }}

{{- /* The hosts of the gateway for the notes, from the values httpRoute, with a name in the place of a wildcard. */}}
{{- define "common.routeHosts" -}}
{{- range .hostnames | default (list "the-address-of-your-gateway") }}
- {{ . | replace "*" "a-name" }}
{{- end }}
{{- end }}

{{- /* Each Service and its share of the requests at the gateway, for the notes. */}}
{{- define "common.routeSplit" -}}
{{- $route := include "common.shared" (list . "httpRoute") | fromYaml }}
{{- if and $route.enabled $route.others }}
{{- $backends := prepend $route.others (dict "name" (include "common.name" .) "weight" $route.weight) }}
{{- $sum := 0 }}
{{- range $backends }}{{ $sum = add $sum (int64 .weight) }}{{ end }}
Split of the requests at the gateway. Before you uninstall a release, remove its Service from httpRoute.others:
{{ range $backends }}
  {{ .name }}: {{ round (divf (mulf 100 .weight) $sum) 2 }} %
{{- $headers := list }}
{{- range $name, $value := .headers }}{{ $headers = append $headers (printf "%s: %s" $name $value) }}{{ end }}
{{- with $headers }}, and all requests with {{ join " and " . }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
