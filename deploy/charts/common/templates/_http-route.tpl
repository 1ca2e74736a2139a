{{- /* The paths of the service at a gateway. */}}
{{- define "common.httpRoute" -}}
{{- $route := include "common.shared" (list . "httpRoute") | fromYaml }}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  {{- include "common.routeGateways" $route | trim | nindent 2 }}
  rules:
    - matches:
        {{- range include "common.paths" . | fromYamlArray }}
        - path:
            type: PathPrefix
            value: {{ . | quote }}
        {{- end }}
      timeouts:
        request: {{ include "common.proxySeconds" . }}s
      backendRefs:
        {{- if (include "common.trafficRouting" . | fromYaml).plugins }}
        {{- include "common.shares" (list . "gateway.networking.k8s.io/v1" "HTTPRoute") | trim | nindent 8 }}
        {{- else }}
        - name: {{ include "common.name" . | quote }}
          port: {{ .Values.service.port }}
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

{{- /* The host names of the values httpRoute, for the notes. A wildcard is replaced by an example. */}}
{{- define "common.routeHosts" -}}
{{- range .hostnames | default (list "the-address-of-your-gateway") }}
- {{ . | replace "*" "a-name" | quote }}
{{- end }}
{{- end }}
