/** Formats an instant in local time: `2026-11-21 03:12:07`. @param ms ms since the epoch */
export function formatLocalTime(ms: number): string {
  const at = new Date(ms);
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** Formats an instant in local time with its zone: `2026-11-21 03:12:07 UTC+01:00`. */
export function formatZonedTime(ms: number): string {
  return `${formatLocalTime(ms)} ${localZone(ms)}`;
}

/** The zone of local time at an instant: `UTC`, `UTC+01:00`. */
export function localZone(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset();
  if (minutes === 0) return "UTC";
  return `UTC${minutes < 0 ? "-" : "+"}${two(Math.trunc(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
