{{- /*
Puts the defaults of values.yaml of this chart below the values of a service. Helm stores them in .Values.common,
because this chart is a dependency of the service. To include it twice has no effect.
*/}}
{{- define "common.values" -}}
{{- if hasKey .Values "common" }}
{{- $values := mustMergeOverwrite (deepCopy .Values.common) (omit .Values "common") }}
{{- include "common.removeNulls" $values }}
{{- $_ := set . "Values" $values }}
{{- end }}
{{- end }}

{{- /* Removes the keys of a map that are null, as Helm does with those that a chart itself has defaults for. */}}
{{- define "common.removeNulls" -}}
{{- range $key, $value := . }}
{{- if kindIs "invalid" $value }}{{ $_ := unset $ $key }}
{{- else if kindIs "map" $value }}{{ include "common.removeNulls" $value }}
{{- end }}
{{- end }}
{{- end }}
