{{/* The labels by which the Service, the policies and the Deployment select the pods of a release. */}}
{{- define "rolecall.selectorLabels" -}}
app.kubernetes.io/name: rolecall
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rolecall.labels" -}}
{{ include "rolecall.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The text of rolecall.yaml. */}}
{{- define "rolecall.config" -}}
{{- if .Values.configFile }}
{{- .Values.configFile }}
{{- else }}
{{- toYaml .Values.config }}
{{- end }}
{{- end }}

{{/* "yes" if rolecall calls the API server; else empty. */}}
{{- define "rolecall.callsApi" -}}
{{- with .Values.access }}
{{- if or .services .configmaps .endpoints }}yes{{- end }}
{{- end }}
{{- end }}
