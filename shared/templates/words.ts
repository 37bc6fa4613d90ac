// Instances are drawn from these lists by place: none may change, nor its order. Another list can stand beside them.

/** Invented first names. */
export const FIRST_NAMES = [
  "Abrel",
  "Bessin",
  "Corvan",
  "Delmira",
  "Edrin",
  "Fenna",
  "Gorlan",
  "Hesper",
  "Ilmo",
  "Jorvel",
  "Kessa",
  "Lorin",
  "Marvik",
  "Nessaly",
  "Oduin",
  "Pellan",
  "Quenna",
  "Rovik",
  "Sarvin",
  "Tamsel",
  "Ulvar",
  "Vestra",
  "Wendrin",
  "Yorla",
] as const;

/** Invented family names. */
export const FAMILY_NAMES = [
  "Aldervane",
  "Bracknow",
  "Cindral",
  "Dorvick",
  "Estmoor",
  "Fallowin",
  "Grendale",
  "Hathmere",
  "Istlow",
  "Jarrowen",
  "Kelbright",
  "Lanthorp",
  "Mosgrave",
  "Norvale",
  "Ostrick",
  "Penhallin",
] as const;

/** First words of invented company names. */
export const COMPANY_STEMS = [
  "Brelvo",
  "Cadmor",
  "Dunmarrow",
  "Elwick",
  "Fennico",
  "Halvet",
  "Kestora",
  "Lumbrin",
  "Mirrowan",
  "Ostavel",
  "Quillmar",
  "Tarnley",
] as const;

/** Second words of invented company names. */
export const TRADES = [
  "Freight",
  "Supplies",
  "Textiles",
  "Foods",
  "Instruments",
  "Timber",
  "Ceramics",
  "Optics",
] as const;

/** Invented places. */
export const PLACES = [
  "Ambreth",
  "Calder Quay",
  "Drumlow",
  "Eastering",
  "Farrowby",
  "Gillmere",
  "Hollin Reach",
  "Ironvale",
  "Marsk End",
  "Northolt Fell",
  "Pellworth",
  "Redmarsh",
] as const;

/** Plain goods, each of one or two words. */
export const GOODS = [
  "lanterns",
  "oak shelves",
  "copper valves",
  "canvas bags",
  "glass jars",
  "rope coils",
  "door hinges",
  "paint rollers",
  "wool blankets",
  "steel hooks",
  "cork boards",
  "garden rakes",
] as const;
