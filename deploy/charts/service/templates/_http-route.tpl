{{- /* The paths of the service at a gateway. Other Services, such as the next version, get their share. */}}
{{- define "service.httpRoute" -}}
{{- $route := include "service.shared" (list . "httpRoute") | fromYaml }}
{{- if $route.enabled }}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  parentRefs:
    {{- toYaml $route.parentRefs | nindent 4 }}
  {{- with $route.hostnames }}
  hostnames:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  rules:
    - matches:
        {{- range include "service.paths" . | fromYamlArray }}
        - path:
            type: PathPrefix
            value: {{ . }}
        {{- end }}
      timeouts:
        request: {{ include "service.proxySeconds" . }}s
      backendRefs:
        - name: {{ include "service.name" . }}
          port: {{ .Values.service.port }}
          weight: {{ $route.weight }}
        {{- range $route.others }}
        - name: {{ .name }}
          port: {{ .port | default 80 }}
          weight: {{ .weight }}
        {{- end }}
{{- end }}
{{- end }}
