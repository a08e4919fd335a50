import type { Browser } from "playwright-core";

/** Lossy, and still sharp to read. */
const QUALITY = 0.7;

/** A PNG as WebP, scaled to at most `width` pixels and cut at `height` from above: for documents, where pictures have to be small. */
export async function smallPicture(
  browser: Browser,
  png: Buffer,
  { width, height }: { width: number; height: number },
): Promise<Buffer> {
  const page = await browser.newPage();
  try {
    const data = await page.evaluate<string>(`(async () => {
      const image = new Image();
      image.src = "data:image/png;base64,${png.toString("base64")}";
      await image.decode();
      const scale = Math.min(1, ${width} / image.width);
      const canvas = document.createElement("canvas");
      canvas.width = Math.round(image.width * scale);
      canvas.height = Math.min(${height}, Math.round(image.height * scale));
      const context = canvas.getContext("2d");
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, canvas.width, Math.round(image.height * scale));
      return canvas.toDataURL("image/webp", ${QUALITY});
    })()`);
    return Buffer.from(data.slice(data.indexOf(",") + 1), "base64");
  } finally {
    await page.close();
  }
}
