//! Four questions, each of which depends on the answers to the ones before.
//!
//! A stateless client sends each answer in a new request. Any replica can serve it, and no store is needed: run several
//! replicas with the same `REJOINDER_STATE_KEYS` behind a load balancer.

use rejoinder::prelude::*;

#[derive(Elicit)]
struct Country {
    /// The country
    #[elicit(min_length = 1)]
    country: String,
}

#[derive(Elicit)]
struct City {
    /// The city
    #[elicit(min_length = 1)]
    city: String,
}

#[derive(Elicit)]
struct Nights {
    /// The number of nights
    #[elicit(min = 1, max = 30)]
    nights: u32,
}

#[derive(Elicit)]
struct Confirm {
    /// Book it?
    yes: bool,
}

#[resolver]
fn country(traveller: &str) -> Ask<Country> {
    Ask::user(format!("Where to, {traveller}?"))
}

#[resolver]
fn city(#[resolve(country)] to: &Country) -> Ask<City> {
    Ask::user(format!("Which city of {}?", to.country))
}

#[resolver]
fn nights(#[resolve(city)] to: &City) -> Ask<Nights> {
    Ask::user(format!("How many nights in {}?", to.city))
}

#[resolver]
fn confirm(#[resolve(city)] to: &City, #[resolve(nights)] stay: &Nights) -> Ask<Confirm> {
    Ask::user(format!("{} nights in {} are {} EUR.", stay.nights, to.city, 90 * stay.nights))
}

/// Book a trip.
#[tool]
async fn book_trip(
    /// The name of the traveller
    traveller: String,
    #[resolve(country)] country: &Country,
    #[resolve(city)] city: &City,
    #[resolve(nights)] nights: &Nights,
    #[resolve(confirm)] confirm: &Confirm,
) -> String {
    if !confirm.yes {
        return format!("{traveller} stays at home");
    }
    format!("{traveller} goes to {}, {}, for {} nights", city.city, country.country, nights.nights)
}

fn server() -> Server {
    Server::new("trips", "1.0.0").tools(tools![book_trip])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    server().serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::{call::Era, testing::Client};
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn each_answer_leads_to_the_next_question() {
        for era in [Era::Stateless, Era::Session] {
            let client = Client::new(server())
                .era(era)
                .answer("country", Country { country: "Italy".into() })
                .answer("city", City { city: "Rome".into() })
                .answer("nights", Nights { nights: 3 });
            let ada = json!({ "traveller": "Ada" });
            let booked = client.clone().answer("confirm", Confirm { yes: true });
            let booked = booked.call_tool("book_trip", ada.clone()).await.unwrap();
            assert_eq!(booked.text(), "Ada goes to Rome, Italy, for 3 nights");
            assert_eq!(booked.asked, [["country"], ["city"], ["nights"], ["confirm"]]);
            let refused = client.answer("confirm", Confirm { yes: false });
            assert_eq!(refused.call_tool("book_trip", ada).await.unwrap().text(), "Ada stays at home");
        }
    }
}
