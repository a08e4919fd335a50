import { isTimezone } from "../../../core/oncall/zone.ts";

/** Rails' names of time zones that aren't the last part of IANA's. */
const RAILS = `International Date Line West=Etc/GMT+12
Midway Island=Pacific/Midway
American Samoa=Pacific/Pago_Pago
Hawaii=Pacific/Honolulu
Alaska=America/Juneau
Pacific Time (US & Canada)=America/Los_Angeles
Mountain Time (US & Canada)=America/Denver
Arizona=America/Phoenix
Central Time (US & Canada)=America/Chicago
Saskatchewan=America/Regina
Guadalajara=America/Mexico_City
Central America=America/Guatemala
Eastern Time (US & Canada)=America/New_York
Indiana (East)=America/Indiana/Indianapolis
Quito=America/Lima
Atlantic Time (Canada)=America/Halifax
Newfoundland=America/St_Johns
Brasilia=America/Sao_Paulo
Buenos Aires=America/Argentina/Buenos_Aires
Georgetown=America/Guyana
Greenland=America/Godthab
Mid-Atlantic=Atlantic/South_Georgia
Cape Verde Is.=Atlantic/Cape_Verde
Edinburgh=Europe/London
Bern=Europe/Zurich
West Central Africa=Africa/Algiers
Kyiv=Europe/Kiev
Pretoria=Africa/Johannesburg
St. Petersburg=Europe/Moscow
Abu Dhabi=Asia/Muscat
Ekaterinburg=Asia/Yekaterinburg
Islamabad=Asia/Karachi
Chennai=Asia/Kolkata
Kolkata=Asia/Kolkata
Mumbai=Asia/Kolkata
New Delhi=Asia/Kolkata
Kathmandu=Asia/Kathmandu
Astana=Asia/Almaty
Sri Jayawardenepura=Asia/Colombo
Hanoi=Asia/Bangkok
Beijing=Asia/Shanghai
Chongqing=Asia/Chongqing
Osaka=Asia/Tokyo
Sapporo=Asia/Tokyo
Canberra=Australia/Melbourne
Solomon Is.=Pacific/Guadalcanal
New Caledonia=Pacific/Noumea
Marshall Is.=Pacific/Majuro
Wellington=Pacific/Auckland
Nuku'alofa=Pacific/Tongatapu
Tokelau Is.=Pacific/Fakaofo
Chatham Is.=Pacific/Chatham
Samoa=Pacific/Apia`;

const ianaOf = new Map([
  ...Intl.supportedValuesOf("timeZone").map((zone): [city: string, zone: string] => [
    zone.replace(/^.*\//, "").replaceAll("_", " "),
    zone,
  ]),
  ...RAILS.split("\n").map((line) => line.split("=") as [rails: string, iana: string]),
]);

/** IANA's name of a time zone, which may be given by Rails' name; null for an unknown one. */
export const zoneOf = (name: string): string | null =>
  ianaOf.get(name) ?? (isTimezone(name) ? name : null);
