/** Types of files for nodemailer, which asks only for attachments. The box's mails have none, and its own list has 77 kB. */
export const detectMimeType = () => "application/octet-stream";
export const detectExtension = () => "bin";
