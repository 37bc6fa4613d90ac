/** A file that is bundled as its text. */
declare module "*.txt" {
  const text: string;
  export default text;
}
