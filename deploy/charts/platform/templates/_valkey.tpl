{{- define "platform.valkeyName" -}}{{ include "service.nameOf" (list . "valkey") }}{{- end }}

{{- define "platform.valkeySecret" -}}
{{- .Values.valkey.existingSecret | default (include "platform.valkeyName" .) }}
{{- end }}
