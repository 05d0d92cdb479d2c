// 5:33: the address is not a setting: `.serve_http(address)`, or `--http ADDR` with `.serve_from_args()`
use rejoinder::http;

fn main() {
    let _ = http::Config::new().port(8000);
}
