//! Values that are made to be handed on, as data: who was given one has to repeat it in the next call, it says nothing
//! about how to make another, and it ends soon.

/// A form of signed address: what its query has, in lower case, and what stands before it.
struct SignedForm {
    /// Part of the address before the query; empty for any.
    place: &'static str,
    /// Names of the query, all of which are there.
    names: &'static [&'static str],
}

const fn signed(place: &'static str, names: &'static [&'static str]) -> SignedForm {
    SignedForm { place, names }
}

/// The forms of signed addresses.
#[rustfmt::skip]
const SIGNED: [SignedForm; 14] = [
    // AWS, "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)"; Cloudflare R2, Backblaze B2,
    // DigitalOcean Spaces, MinIO and others speak it, too.
    signed("", &["x-amz-signature"]),
    // Google Cloud Storage, "Signed URLs".
    signed("", &["x-goog-signature"]),
    // Alibaba Cloud OSS, "Include a V4 signature in a URL"; Volcano Engine TOS.
    signed("", &["x-oss-signature"]), signed("", &["x-tos-signature"]),
    // Tencent Cloud COS, "Request signature".
    signed("", &["q-signature"]),
    // Microsoft Learn, "Create a service SAS": the version of the service is in each.
    signed("", &["sig", "sv"]),
    // AWS, version 2 of S3 and canned policies of CloudFront; Google Cloud Storage, version 2; Laravel, "Signed URLs".
    signed("", &["signature", "expires"]),
    // AWS, "Create a signed URL using a custom policy".
    signed("", &["signature", "key-pair-id"]),
    // Supabase Docs, "createSignedUrl" and "createSignedUploadUrl".
    signed("/storage/v1/", &["token"]),
    // Firebase Docs, "Download files with Cloud Storage on Web".
    signed("://firebasestorage.", &["token"]),
    // GitHub Docs: attachments and raw files of private repositories.
    signed("://private-user-images.githubusercontent.com/", &["jwt"]),
    signed("://raw.githubusercontent.com/", &["token"]), signed("://codeload.github.com/", &["token"]),
    // Microsoft Graph, `@microsoft.graph.downloadUrl`.
    signed("", &["tempauth"]),
];

/// Names of the query of a signed address whose values belong to the signature, in lower case.
#[rustfmt::skip]
const SIGNATURE: [&str; 22] = [
    "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature", "x-goog-credential",
    "x-oss-signature", "x-oss-credential", "x-oss-security-token", "x-tos-signature", "x-tos-credential",
    "q-signature", "q-ak", "sig", "signature", "key-pair-id", "policy", "awsaccesskeyid", "googleaccessid",
    "ossaccesskeyid", "token", "jwt", "tempauth",
];

/// Names of fields, in lower case and without separators: tokens against forged requests, which are worth nothing
/// without the session; parts of a form that is signed for one upload (AWS, "Creating an HTML form for file uploads");
/// what an upload goes on with.
#[rustfmt::skip]
const FIELDS: [&str; 14] = [
    "csrf", "csrftoken", "xsrftoken", "csrfmiddlewaretoken", "authenticitytoken", "requestverificationtoken",
    "antiforgerytoken", "xamzsignature", "xamzcredential", "xamzsecuritytoken", "xgoogsignature", "xgoogcredential",
    "uploadtoken", "idempotencytoken",
];

/// Longest name of a field that is looked at, in bytes.
const MAX_NAME: usize = 64;

/// Reports whether the value of a field is made to be handed on, by its name.
pub(super) fn is_handed_on(name: &str) -> bool {
    // Laravel's, in forms.
    if name == "_token" {
        return true;
    }
    let letters = name.bytes().filter(|b| !matches!(b, b'-' | b'_' | b'.' | b' '));
    name.len() <= MAX_NAME
        && FIELDS.iter().any(|field| {
            let length = letters.clone().count();
            let ends = length >= field.len()
                && letters.clone().skip(length - field.len()).map(|b| b.to_ascii_lowercase()).eq(field.bytes());
            // Prefixes say whose it is, as in `X-CSRF-Token`.
            ends && (length == field.len() || field.contains("srf") || field.contains("forgery"))
        })
}

/// Reports whether an address is signed, by what stands before its query and the names in that.
pub(super) fn is_signed(place: &str, names: &[&str]) -> bool {
    let has = |wanted: &str| names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
    SIGNED.iter().any(|form| place.contains(form.place) && form.names.iter().all(|name| has(name)))
}

/// Reports whether a value of the query of a signed address belongs to its signature.
pub(super) fn is_of_signature(name: &str) -> bool {
    SIGNATURE.iter().any(|known| name.eq_ignore_ascii_case(known))
}
