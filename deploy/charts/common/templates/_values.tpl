{{- /*
Sets .Values to the values of a service with the defaults of this chart for all others. Helm stores these defaults in
.Values.common, because this chart is a dependency of the service. A second call has no effect.
*/}}
{{- define "common.values" -}}
{{- if hasKey .Values "common" }}
{{- $values := mustMergeOverwrite (deepCopy .Values.common) (omit .Values "common") }}
{{- include "common.removeNulls" $values }}
{{- $_ := set . "Values" $values }}
{{- end }}
{{- end }}

{{- /* Removes the keys of a map that are null. Helm itself does this only for keys that the chart has a default for. */}}
{{- define "common.removeNulls" -}}
{{- range $key, $value := . }}
{{- if kindIs "invalid" $value }}{{ $_ := unset $ $key }}
{{- else if kindIs "map" $value }}{{ include "common.removeNulls" $value }}
{{- end }}
{{- end }}
{{- end }}
